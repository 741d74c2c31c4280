import type { Translation } from "../../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  section: "标签",
  fixed: "固定标签",
  fixedHelp: "使用此令牌的每次调用都带有这些标签；客户端无法更改。",
  addFixed: "添加固定标签",
  key: "键",
  value: "值",
  policy: "客户端可发送的标签",
  policyHelp: "调用在请求头 X-Fairway-Tags 或 metadata 中给出标签。没有对应行的键由团队或运营者决定。",
  allowed: "值（用逗号分隔）",
  anyValue: "任意",
  usual: "默认",
  strict: "拒绝其他值",
  required: "必填",
  addKey: "添加键",
  users: "最终用户",
  usersHelp: "客户端的客户，来自 user、safety_identifier 或请求头 X-Fairway-End-User。",
  usersInherit: "由团队或运营者决定",
  usersClient: "客户端给出时保存",
  usersOff: "从不保存",
  usersRequired: "必填",
};
