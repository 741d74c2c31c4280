import type { Translation } from "../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  title: "聊天",
  with: "使用令牌 {name}",
  outside: "在新标签页打开",
  noToken: "当前没有可用的已启用令牌，正在跳转…",
  noTokenForLink: "当前没有可用的启用令牌，请确认是否有令牌处于启用状态！",
  noLink: "管理员未设置聊天链接。",
  setLink: "去设置",
  noLinkTitle: "没有聊天链接",
  addToken: "添加令牌",
  signInTitle: "登录后聊天",
  signInBody: "聊天会使用您的一个令牌。",
  signIn: "登录",
  plainTitle: "该聊天需在新标签页打开",
  plainBody: "其地址未加密，加密页面不能嵌入它。",
  leaving: "正在打开聊天…",
};
