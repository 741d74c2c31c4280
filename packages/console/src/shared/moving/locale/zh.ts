import type { Translation } from "../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  title: "将 {name} 移交给其他所有者",
  lead: "密钥文本不变，应用无需改动。此后由新所有者支付调用费用并在日志中查看；正在进行的调用仍由原所有者支付。",
  owner: "新所有者",
  choose: "请选择",
  myself: "我自己",
  move: "移交密钥",
  moved: "密钥 {name} 现在属于 {to}",
};
