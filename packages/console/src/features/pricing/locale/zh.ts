import type { Translation } from "../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  title: "模型价格",
  find: "模型",
  group: "分组",
  groupChoice: "{name} × {ratio}",
  payBy: "计费方式",
  anyPay: "全部计费方式",
  byTokens: "按 Token",
  byCall: "按次",
  model: "模型",
  kind: "计费方式",
  input: "输入 / 1M",
  output: "输出 / 1M",
  perCall: "每次",
  ratio: "倍率",
  ratioHelp: "模型倍率，以及输出相对输入的倍率",
  groups: "分组",
  copyName: "复制名称 {name}",
  yours: "您的分组 {name} 的价格，为标价的 {ratio} 倍。",
  visitors: "分组 {name} 的价格，为标价的 {ratio} 倍。登录后可查看您的分组价格。",
  formula: "费用 = 分组倍率 × 模型倍率 ×（输入 Token + 输出 Token × 补全倍率）÷ {unit} 美元",
  notInGroup: "此分组不可用",
  emptyTitle: "还没有模型",
  emptyBody: "添加第一个渠道后，模型会显示在这里。",
};
