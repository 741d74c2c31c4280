import type { Translation } from "../../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  caches: "提示缓存",
  cachesEmpty: "该时段没有提示从缓存读取，也没有写入缓存。",
  hitRate: "命中率",
  hitRateHelp: "从缓存读取的 Token 占全部提示 Token 的比例",
  hits: "{requests} 个请求中有 {hits} 个命中",
  read: "读取的 Token",
  written: "写入 {count}",
  saved: "节省",
  savedCachesHelp: "读取节省的金额减去写入多花的金额",
  storage: "存储",
  storageHelp: "客户端创建的缓存",
  byChannel: "按渠道统计提示缓存",
  byToken: "按令牌统计提示缓存",
  subject: "{tokens} 个 Token 的 {rate}",
  unnamed: "未命名（{id}）",
  batches: "批处理",
  batchesEmpty: "没有进行中的批处理，该时段也没有结算过批处理。",
  open: "进行中",
  openHelp: "尚未结算，不论何时创建",
  deposit: "已预存 {amount}",
  settled: "已结算",
  answered: "已回答 {count} 个请求",
  charged: "已扣费",
  savedBatchesHelp: "同样的回答在批处理之外的费用减去实际扣费",
};
