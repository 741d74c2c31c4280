import type { Translation } from "../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  previous: "上一条",
  next: "下一条",
  close: "关闭",
};
