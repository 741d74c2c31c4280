import type { Translation } from "../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  changeNow: "修改 {count} 个",
  preview: "预览",
  previewNone: "目前没有任何更改。",
  previewMore: "还有 {count} 个",
  changedSince: "预览之后该项已被修改，未做任何更改。",
};
