import type { Translation } from "../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  rotate: "更换",
  rotateTitle: "更换“{name}”的密钥",
  grace: "旧密钥继续有效",
  graceHelp: "请在此期间让程序改用新密钥。令牌及其限制不变。",
  graceNone: "不再有效，立即失效",
  hour: "1 小时",
  day: "1 天",
  week: "7 天",
  thirtyDays: "30 天",
};
