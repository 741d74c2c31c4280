import type { Translation } from "../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  title: "审计日志",
  user: "用户名",
  when: "时间",
  who: "操作者",
  what: "发生了什么",
  action: "调用",
  target: "对象",
  changed: "变更",
  address: "来源地址",
  refresh: "刷新",
  only: "只看“{name}”",
  more: "另有 {count} 项",
  unfinished: "仍在进行，或结果未知",
  noValues: "该调用没有记录值。",
  changes: "变更内容",
  member: "字段",
  value: "（整体）",
  before: "之前",
  after: "之后",
  sent: "发送的内容",
  emptyTitle: "这段时间没有变更",
  emptyBody: "通过管理接口的每次写入都记录在此：谁、从何处、之前和之后的内容。",
};
