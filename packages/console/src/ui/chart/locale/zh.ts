import type { Translation } from "../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  time: "时间",
  total: "合计",
  key: "图表颜色说明",
  asTable: "{title}：以表格显示",
};
