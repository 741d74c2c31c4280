import type { Translation } from "../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  searchId: "任务 ID",
  searchChannel: "渠道",
  refresh: "刷新",
};
