import type { Translation } from "../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  didCreate: "创建了{noun} {name}",
  didUpdate: "修改了{noun} {name}",
  didDelete: "删除了{noun} {name}",
  didCopy: "复制了{noun} {name}",
  didTest: "测试了{noun} {name}",
  didManage: "更改了{noun} {name} 的状态",
  didBulk: "批量修改了{noun} {name}",
  didReset: "重置了{noun} {name}",
  didSwitch: "切换了{noun} {name}",
  didTopUp: "增加了{noun} {name} 的余额",
  nounAccessToken: "访问令牌",
  nounBudget: "预算",
  nounChannel: "渠道",
  nounOption: "选项",
  nounPasskey: "通行密钥",
  nounRedemption: "兑换码",
  nounToken: "令牌",
  nounUser: "用户",
};
