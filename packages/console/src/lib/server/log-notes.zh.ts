/** Sentences that the gateway writes into the log, with their variable parts in brackets. */
const NOTES: readonly (readonly [RegExp, string])[] = [
  [/^Promoted to administrator$/, "已设为管理员"],
  [/^Demoted to regular user$/, "已降为普通用户"],
  [/^Disabled by an administrator$/, "已被管理员禁用"],
  [/^Enabled by an administrator$/, "已被管理员启用"],
  [/^Deleted by an administrator$/, "已被管理员删除"],
  [/^Password changed$/, "密码已修改"],
  [/^Password changed by an administrator$/, "密码已由管理员修改"],
  [/^Password reset by email$/, "密码已通过邮件重置"],
  [/^Cleared (\d+) logs before (.+)$/, "已清除 $2 之前的 $1 条日志"],
  [/^Option (\S+) changed$/, "选项 $1 已修改"],
  [/^The administrator changed the user quota from (\S+) to ([^\s:]+)/, "管理员将用户额度从 $1 改为 $2"],
  [/^The administrator changed the balance of the team from (\S+) to ([^\s:]+)/, "管理员将团队余额从 $1 改为 $2"],
  [/^New user registration gift (\S+)$/, "新用户注册赠送 $1"],
  [/^Gift for using an invitation code (\S+)$/, "使用邀请码赠送 $1"],
  [/^Invitation reward (\S+)$/, "邀请奖励 $1"],
  [/^Transferred (\S+) of invitation rewards to the balance$/, "已将 $1 邀请奖励划转到余额"],
  [/^Recharged (\S+) with a redemption code, code ID (\d+)$/, "使用兑换码充值 $1，兑换码 ID $2"],
  [/^Online recharge succeeded, recharged (\S+), paid (\S+)$/, "在线充值成功，充值 $1，支付 $2"],
];

/** Translates a sentence of the gateway into Chinese; texts of people and of other gateways stay unchanged. */
export function noteInChinese(text: string): string {
  for (const [pattern, chinese] of NOTES) if (pattern.test(text)) return text.replace(pattern, chinese);
  return text;
}
