import type { Translation } from "../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  title: "缓存",
  cacheId: "缓存编号",
  copyId: "复制 {id}",
  model: "模型",
  tokens: "Token 数",
  storage: "存储费用（至今）",
  deposit: "预留",
  user: "用户",
  channel: "渠道",
  created: "创建时间",
  ends: "结束时间",
  remove: "删除",
  removeTitle: "删除缓存 {id}？",
  removeBody: "将在此处和服务商处一并删除，并收取至今的存储费用。之后引用它的请求会失败。",
  removed: "已删除缓存 {id}。",
  emptyTitle: "还没有缓存的提示词",
  emptyBody:
    "使用 Google 协议的客户端可将较长的提示词在服务商处存储一次，之后在请求中引用，读取时按缓存 Token 计价。存储按 Token 数和时间收费。此页列出尚未结束的缓存。",
  emptyAction: "前往密钥页面",
};
