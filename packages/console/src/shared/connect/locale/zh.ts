import type { Translation } from "../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  examples: "各客户端的示例",
  baseUrl: "接口地址",
  copySnippet: "复制示例",
  model: "模型",
  putKey: "显示密钥",
  hideKey: "隐藏密钥",
  key: "密钥",
  send: "发送测试请求",
  sendAgain: "再发一次",
  sendHelp: "用此密钥提一个简短的问题，与其他请求一样计费。",
  sending: "正在等待 {model} 的回答…",
  answered: "已回答，用时 {time}",
  refused: "被拒绝，状态码 {status}",
  emptyAnswer: "回答中没有文本。",
  waitingRow: "正在等待日志中的记录…",
  arrived: "日志中已有此请求",
  noRow: "日志中还没有此请求的记录。",
  noModel: "此密钥目前没有可用的模型。",
  openRow: "在日志中查看",
  rowModel: "模型",
  rowTokens: "令牌数",
  rowTokensOf: "输入 {input}，输出 {output}",
  rowCost: "费用",
  rowRequest: "请求",
};
