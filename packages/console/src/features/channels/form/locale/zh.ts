import type { Translation } from "../../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  promptCache: "提示缓存",
  promptCacheHelp: "标记提示的开头部分，提供商会将其存储，并以更低价格读取。",
  promptCacheOff: "不标记",
  promptCacheAuto: "开头部分可能再次出现时",
  promptCacheAlways: "每个足够长的提示",
  promptCacheLife: "缓存有效期",
  promptCacheLifeHelp: "适用于 Anthropic 的工具和系统文本；一小时的写入价格为输入价格的两倍。",
  promptCacheShort: "5 分钟",
  promptCacheLong: "1 小时",
};
