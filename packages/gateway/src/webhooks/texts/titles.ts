import type { WebhookLanguage } from "@fairway/wire";
import type { CredentialChangeKind } from "../../events/credential-changes.ts";
import type { EventTypeName } from "../../events/catalogue.ts";

type Titles = Readonly<Record<WebhookLanguage, string>>;

/** One sentence for each type; `{x}` is a member of the event's data. */
export const TITLES: Readonly<Record<EventTypeName, Titles>> = {
  "webhook.test": { en: "Test message from {name}", zh: "来自 {name} 的测试消息" },
  "channel.disabled": { en: "Channel {name} was switched off", zh: "渠道 {name} 已停用" },
  "channel.enabled": { en: "Channel {name} works again", zh: "渠道 {name} 已恢复" },
  "channel.key_disabled": {
    en: "Key {number} of channel {name} was switched off",
    zh: "渠道 {name} 的密钥 {number} 已停用",
  },
  "channel.failing": { en: "Channel {name} keeps failing", zh: "渠道 {name} 持续失败" },
  "channel.slow": {
    en: "The test of channel {name} took {milliseconds} ms",
    zh: "渠道 {name} 的测试用时 {milliseconds} 毫秒",
  },
  "channel.balance_low": {
    en: "The provider of channel {name} has {balance_usd} USD left",
    zh: "渠道 {name} 在上游的余额仅剩 {balance_usd} 美元",
  },
  "balance.low": { en: "Your balance is about to run out", zh: "余额即将用完" },
  "balance.empty": { en: "Your balance has been used up", zh: "余额已用完" },
  "budget.threshold": { en: "Budget {name} has reached {percent} %", zh: "预算 {name} 已达 {percent} %" },
  "budget.exhausted": { en: "Budget {name} is used up", zh: "预算 {name} 已用完" },
  "budget.forecast": { en: "Budget {name} will run out early", zh: "预算 {name} 预计提前用完" },
  "token.created": { en: "Token {name} was created", zh: "令牌 {name} 已创建" },
  "token.expiring": { en: "Token {name} is about to expire", zh: "令牌 {name} 即将过期" },
  "token.expired": { en: "Token {name} has expired", zh: "令牌 {name} 已过期" },
  "token.exhausted": { en: "The quota of token {name} is used up", zh: "令牌 {name} 的额度已用完" },
  "token.disabled": { en: "Token {name} was disabled", zh: "令牌 {name} 已停用" },
  "token.idle": { en: "Token {name} has not been used for {days} days", zh: "令牌 {name} 已有 {days} 天未使用" },
  "token.moved": { en: "Token {name} moved from {from} to {to}", zh: "令牌 {name} 已从 {from} 转移到 {to}" },
  "token.rotation_due": { en: "The key of token {name} should be replaced", zh: "令牌 {name} 的密钥应当更换" },
  "token.rotated": { en: "Token {name} has a new key", zh: "令牌 {name} 已更换密钥" },
  "token.leaked": { en: "The key of token {name} was found in public", zh: "令牌 {name} 的密钥已公开泄露" },
  "team.invited": { en: "{by} invited someone to the team {name}", zh: "{by} 邀请了新成员加入团队 {name}" },
  "team.member_joined": { en: "{username} joined team {name}", zh: "{username} 已加入团队 {name}" },
  "team.member_left": { en: "{username} left team {name}", zh: "{username} 已离开团队 {name}" },
  "team.role_changed": {
    en: "{username} has a new role in team {name}",
    zh: "{username} 在团队 {name} 中的角色已更改",
  },
  "team.ownerless": { en: "Team {name} has no owner", zh: "团队 {name} 没有所有者" },
  "team.deleted": { en: "Team {name} was deleted", zh: "团队 {name} 已删除" },
  "payment.succeeded": { en: "Payment {order} was credited", zh: "付款 {order} 已到账" },
  "payment.failed": { en: "Payment {order} failed", zh: "付款 {order} 失败" },
  "payment.refunded": { en: "Payment {order} was refunded", zh: "付款 {order} 已退款" },
  "payment.disputed": { en: "Payment {order} is disputed", zh: "付款 {order} 存在争议" },
  "payment.mismatch": {
    en: "Payment {order} differs from its order and was not credited",
    zh: "付款 {order} 与订单不符，未到账",
  },
  "redemption.used": { en: "Code {name} was redeemed", zh: "兑换码 {name} 已使用" },
  "batch.completed": { en: "Batch {id} has finished", zh: "批处理 {id} 已完成" },
  "batch.failed": { en: "Batch {id} failed", zh: "批处理 {id} 失败" },
  "batch.expired": { en: "Batch {id} was not finished in time", zh: "批处理 {id} 超时未完成" },
  "batch.cancelled": { en: "Batch {id} was cancelled", zh: "批处理 {id} 已取消" },
  "task.succeeded": { en: "Task {id} is finished", zh: "任务 {id} 已完成" },
  "task.failed": { en: "Task {id} failed", zh: "任务 {id} 失败" },
  "report.ready": { en: "Report {name} is ready", zh: "报表 {name} 已生成" },
  "signin.new_device": {
    en: "A new browser signed in to the account {username}",
    zh: "新的浏览器登录了账户 {username}",
  },
  "account.credentials_changed": {
    en: "A way to sign in to the account {username} changed",
    zh: "账户 {username} 的登录方式已更改",
  },
  "account.disabled": { en: "The account {username} was disabled", zh: "账户 {username} 已被停用" },
  "user.registered": { en: "{username} created an account", zh: "{username} 注册了账户" },
  "identity.claims_incomplete": {
    en: "Sign-in provider {provider} left out claims",
    zh: "登录提供方 {provider} 未返回全部信息",
  },
  "identity.breakglass": {
    en: "{username} signed in without the sign-in provider",
    zh: "{username} 未经登录提供方直接登录",
  },
  "scim.user_deactivated": {
    en: "The directory deactivated the account {username}",
    zh: "账户 {username} 已被目录停用",
  },
  "price.changed": { en: "The planned prices apply from now on", zh: "计划的价格已开始生效" },
  "job.failed": { en: "Job {name} failed", zh: "后台任务 {name} 失败" },
  "ledger.difference": {
    en: "{differences} balances in Redis differ from the database",
    zh: "Redis 中有 {differences} 处余额与数据库不一致",
  },
  "settlement.backlog": {
    en: "{waiting} charges wait for the database",
    zh: "{waiting} 笔费用等待写入数据库",
  },
  "redis.lost": { en: "Replica {instance} does not reach Redis", zh: "副本 {instance} 无法连接 Redis" },
  "leader.missing": { en: "No replica did the periodic work for a minute", zh: "超过一分钟没有副本执行定时任务" },
  "guardrail.failing": { en: "The guardrail does not answer with verdicts", zh: "内容审核服务没有给出结果" },
  "version.available": {
    en: "Version {version} is available; this is {current}",
    zh: "新版本 {version} 已发布，当前版本为 {current}",
  },
  "database.went_back": {
    en: "The database lost its last transactions; {rebooked} charges were booked again",
    zh: "数据库丢失了最近的事务；已重新入账 {rebooked} 笔费用",
  },
  "alert.firing": { en: "Alert {name} is firing", zh: "告警 {name} 已触发" },
  "alert.resolved": { en: "Alert {name} is resolved", zh: "告警 {name} 已解除" },
  "webhook.disabled": { en: "Endpoint {name} was switched off", zh: "事件端点 {name} 已停用" },
};

/** Members of data that a message shows, with their words. Others are for programs. */
export const LABELS = {
  change: { en: "Change", zh: "更改" },
  by: { en: "By", zh: "操作者" },
  reason: { en: "Reason", zh: "原因" },
  since: { en: "Since", zh: "开始于" },
  until: { en: "Until", zh: "截止" },
  key: { en: "Key", zh: "密钥" },
  balance: { en: "Balance", zh: "余额" },
  limit: { en: "Limit", zh: "上限" },
  threshold: { en: "Threshold", zh: "阈值" },
  threshold_usd: { en: "Threshold in USD", zh: "阈值（美元）" },
  used: { en: "Used", zh: "已用" },
  window_end: { en: "Window ends", zh: "周期结束" },
  reached_at: { en: "Runs out on", zh: "预计用完" },
  forecast_at: { en: "Runs out on", zh: "预计用完" },
  expires_at: { en: "Expires", zh: "过期时间" },
  last_used_at: { en: "Last used", zh: "最近使用" },
  hint: { en: "Key", zh: "密钥" },
  source: { en: "Found at", zh: "发现于" },
  role: { en: "Role", zh: "角色" },
  amount: { en: "Amount", zh: "金额" },
  expected: { en: "Expected amount", zh: "应付金额" },
  currency: { en: "Currency", zh: "货币" },
  period_start: { en: "From", zh: "起始" },
  period_end: { en: "To", zh: "结束" },
  calls: { en: "Calls", zh: "调用" },
  quota: { en: "Quota", zh: "额度" },
  total: { en: "Requests", zh: "请求数" },
  succeeded: { en: "Succeeded", zh: "成功" },
  failed: { en: "Failed", zh: "失败" },
  address: { en: "Address", zh: "地址" },
  agent: { en: "Browser", zh: "浏览器" },
  page: { en: "More", zh: "详情" },
  summary: { en: "Summary", zh: "摘要" },
} as const satisfies Readonly<Record<string, Titles>>;

/** Words for `change`. */
export const CHANGES: Readonly<Record<CredentialChangeKind, Titles>> = {
  password_changed: { en: "the password was changed", zh: "密码已更改" },
  password_reset: { en: "the password was reset by e-mail", zh: "密码已通过邮件重置" },
  email_changed: { en: "the e-mail address was changed", zh: "邮箱地址已更改" },
  access_token_made: { en: "an access token was made", zh: "已创建访问令牌" },
  two_factor_on: { en: "two-factor sign-in was switched on", zh: "两步验证已启用" },
  two_factor_off: { en: "two-factor sign-in was switched off", zh: "两步验证已停用" },
  recovery_codes_replaced: { en: "the recovery codes were replaced", zh: "恢复代码已更换" },
  passkey_added: { en: "a passkey was added", zh: "已添加通行密钥" },
  passkeys_removed: { en: "passkeys were removed", zh: "已删除通行密钥" },
  account_bound: { en: "an account of a sign-in service was bound", zh: "已绑定第三方登录账户" },
};

/** Words around the events. */
export const WORDS = {
  severity: {
    info: { en: "Info", zh: "提示" },
    warning: { en: "Warning", zh: "警告" },
    critical: { en: "Critical", zh: "严重" },
  },
  events: { en: "{n} events", zh: "{n} 个事件" },
  more: { en: "and {n} more", zh: "另有 {n} 个" },
  open: { en: "Open the console", zh: "打开控制台" },
} as const;
