import type { Translation } from "../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  enabled: "已启用",
  disabled: "已禁用",
  disabledByAdmin: "已被管理员禁用",
  expired: "已过期",
  exhausted: "已耗尽",
};
