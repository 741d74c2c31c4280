import type { Translation } from "../../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  status: "状态",
  enabled: "已启用",
  disabled: "已禁用",
  deleted: "已删除",
  balance: "余额",
  used: "已用",
  requests: "计费请求数",
  group: "分组",
  calls: "查看其请求",
  open: "打开用户",
  close: "关闭",
};
