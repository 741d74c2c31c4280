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
  batchMaxOpen: "未结束批处理上限",
  batchMaxOpenHelp: "超出的批处理会交给下一个渠道；没有其他渠道时会被拒绝，直到有批处理结束。",
  batchMaxTokens: "未结束批处理的 token 上限",
  batchMaxTokensHelp: "所有未结束批处理的预估输入 token 数；提供商会按账户限制该数量。",
  batchNoLimit: "不限制",
};
