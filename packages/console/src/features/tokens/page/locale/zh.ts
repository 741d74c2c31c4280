import type { Translation } from "../../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  addresses: "使用来源",
  addressesAll: "{count} 个地址",
  addressUnknown: "未知地址",
  models: "使用的模型",
  unused: "此期间没有调用。",
  calls: "{count} 次调用",
  failed: "{count} 次失败",
  partial: "仅统计最新的 {count} 次调用。",
};
