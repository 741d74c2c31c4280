import { fill, MESSAGES, REASONS, type MessageKey } from "@fairway/wire";

/** Server messages by key; placeholders are those of the English text. */
export const messages: Record<MessageKey, string> = {
  invalid_parameter: "参数无效。",
  invalid_field: "输入无效：{field} {reason}。",
  too_many_requests: "请求过多，请稍后再试！",
  internal_error: "服务器内部错误，请联系管理员！",
  database_unavailable: "数据库连接失败。",
  unknown_url: "地址无效（{method} {path}）",
  body_too_large: "请求内容过大。",
  entity_changed: "内容已被修改，请刷新页面后重试。",
  idempotency_key_invalid: "请求头 Idempotency-Key 须为 1 到 255 个字母、数字、点、冒号、连字符或下划线。",
  idempotency_key_reused: "此 Idempotency-Key 已用于另一次修改，请为新的修改使用新的键。",
  database_disk_full: "数据库磁盘已满，请腾出空间。",
  database_read_only: "数据库目前不接受写入。",
  not_signed_in: "未登录或登录已过期，请重新登录！",
  access_token_invalid: "访问令牌无效。",
  user_header_missing: "缺少 New-Api-User 请求头。",
  user_header_invalid: "New-Api-User 请求头不是有效的用户 ID。",
  user_header_mismatch: "New-Api-User 请求头与登录用户不一致。",
  account_disabled: "此账号已被禁用。",
  permission_denied: "权限不足。",
  account_deleted: "此账号已被删除。",
  session_required: "访问令牌不能修改登录凭据，请登录后操作。",
  confirmation_required: "请用密码或第二因素确认，或重新登录：之后 5 分钟内可以修改登录凭据。",
  scope_missing: "此访问令牌缺少权限 {scope}。",
  password_login_disabled: "管理员已关闭密码登录。",
  credentials_missing: "请输入用户名和密码！",
  credentials_wrong: "用户名或密码错误，或账号已被禁用。",
  too_many_failed_logins: "登录失败次数过多，请稍后再试。",
  second_factor_required: "请输入验证器的验证码或恢复码。",
  second_factor_wrong: "验证码错误或已被使用。",
  two_factor_already_enabled: "两步验证已开启。",
  two_factor_not_enabled: "两步验证未开启。",
  two_factor_secret_missing: "请先生成新的验证器密钥。",
  passkey_not_found: "通行密钥不存在。",
  too_many_passkeys: "最多只能有 {n} 个通行密钥。",
  passkey_already_registered: "此通行密钥已注册。",
  passkey_not_verified: "无法验证通行密钥，请重试。",
  sign_in_expired: "登录已过期，请重新开始。",
  registration_disabled: "管理员已关闭新用户注册。",
  password_registration_disabled: "管理员已关闭密码注册，请使用第三方账号注册。",
  password_too_short: "密码长度不得少于 8 个字符！",
  passwords_differ: "两次输入的密码不一致。",
  email_verification_required: "已开启邮箱验证，请输入邮箱地址和验证码。",
  verification_code_wrong: "验证码错误或已过期。",
  username_taken: "用户名已存在或已被注销。",
  email_taken: "该邮箱地址已被使用。",
  username_invalid: "用户名须为 1 到 20 个字符，不能含空格、@ 或 /。",
  password_too_long: "密码长度不得超过 128 个字符。",
  email_missing: "请输入邮箱地址！",
  email_invalid: "邮箱地址无效。",
  email_domain_not_allowed: "该邮箱域名不在管理员允许的列表中。",
  email_alias_not_allowed: "管理员不允许 @ 之前含 + 或 . 的邮箱地址。",
  email_too_soon: "请等待 {n} 秒后再请求邮件。",
  smtp_not_configured: "尚未配置 SMTP 服务器。",
  email_not_sent: "邮件发送失败，请联系管理员。",
  reset_link_invalid: "重置链接无效或已过期。",
  email_code_missing: "请输入邮箱验证码！",
  turnstile_pending: "请几秒后重试，Turnstile 正在检查用户环境！",
  turnstile_failed: "Turnstile 验证失败，请刷新页面后重试。",
  turnstile_unreachable: "无法连接 Turnstile 服务器，请稍后再试。",
  oauth_state_mismatch: "OAuth 状态缺失或不一致。",
  oauth_provider_disabled: "管理员未开启 {provider} 登录。",
  oauth_provider_unreachable: "无法连接 {provider} 服务器，请稍后再试。",
  oauth_answer_invalid: "{provider} 返回了无效的应答，请稍后再试。",
  oauth_account_already_bound: "此 {provider} 账号已绑定其他用户。",
  telegram_account_not_bound: "此 Telegram 账号未绑定任何用户。",
  telegram_authorization_invalid: "Telegram 授权无效。",
  user_not_found: "用户不存在。",
  user_view_not_permitted: "无权查看同级或更高级别的用户。",
  user_change_not_permitted: "无权修改同级或更高级别的用户。",
  user_role_too_high: "无权将用户提升到与自己相同或更高的级别。",
  user_create_role_too_high: "无权创建与自己同级或更高级别的用户。",
  root_cannot_be_disabled: "不能禁用超级管理员。",
  root_cannot_be_deleted: "不能删除超级管理员。",
  promotion_needs_root: "只有超级管理员可以提升用户。",
  user_already_admin: "该用户已是管理员。",
  root_cannot_be_demoted: "不能降级超级管理员。",
  user_already_regular: "该用户已是普通用户。",
  unknown_action: "未知操作。",
  user_deleted: "该用户已被删除。",
  user_delete_not_permitted: "无权删除同级或更高级别的用户。",
  group_not_found: "分组 {g} 不存在。",
  quota_invalid: "额度须为不小于 0 的整数。",
  transfer_below_minimum: "最低划转额度为 {min}",
  invitation_quota_insufficient: "邀请额度不足。",
  transfer_succeeded: "划转成功。",
  current_password_wrong: "当前密码错误。",
  github_not_configured: "无法开启 GitHub 登录：请先填写 GitHub 客户端 ID 和客户端密钥。",
  email_domains_not_configured: "无法开启邮箱域名限制：请先填写允许的域名。",
  wechat_not_configured: "无法开启微信登录：请先填写微信服务器设置。",
  turnstile_not_configured: "无法开启 Turnstile 验证：请先填写站点密钥和私密密钥。",
  telegram_not_configured: "无法开启 Telegram 登录：请先填写机器人令牌和名称。",
  option_unknown: "未知选项 {key}。",
  option_json_invalid: "不是有效的 JSON 字符串。",
  topup_ratio_json_invalid: "充值分组倍率不是有效的 JSON 字符串。",
  option_value_invalid: "{key} 的值须为{rule}。",
  server_address_missing: "请先填写服务器地址。",
  model_ratios_reset: "模型倍率已重置。",
  price_invalid: "倍率和价格须为不小于 0 的数字：{name}",
  guardrail_not_configured: "无法开启内容审核：请先填写地址、密钥以及失败时的处理方式。",
  sign_in_service_not_configured: "无法开启此登录方式：请先填写客户端 ID 和客户端密钥。",
  channel_name_or_key_missing: "请填写渠道名称和渠道密钥！",
  channel_models_missing: "请至少选择一个模型！",
  model_mapping_invalid: "模型映射须为有效的 JSON 格式！",
  status_mapping_invalid: "状态码映射须为有效的 JSON 格式！",
  region_missing: "部署地区不能为空。",
  region_default_missing: "部署地区须包含键 default。",
  model_name_too_long: "模型名称过长：{model}",
  channel_not_found: "渠道不存在。",
  channel_not_openai_compatible: "仅支持 OpenAI 接口格式。",
  model_list_unavailable: "获取模型列表失败：{reason}。",
  channel_test_running: "渠道测试正在进行。",
  channel_type_not_testable: "此类渠道不能测试。",
  channel_without_betas: "此渠道没有 beta 标志：其类型或协议不支持。",
  channel_balance_unsupported: "此类渠道不支持查询余额。",
  tag_missing: "标签不能为空。",
  channel_type_unknown: "未知的渠道类型。",
  channel_selection_missing: "请先选择要删除的渠道！",
  status_not_settable: "状态只能设为 1 或 2。",
  balance_update_running: "余额更新正在进行。",
  key_missing: "请输入密钥。",
  model_mapping_circular: "模型映射形成循环：{path}。",
  key_server_changed: "密钥将被发送到另一台服务器。请重新输入密钥，或由超级管理员修改地址。",
  channel_test_unsuitable: "模型 {model} 不能用小请求测试。",
  channel_test_unreachable: "无法连接上游（{cause}）。",
  channel_test_timeout: "上游在 {seconds} 秒内没有响应。",
  channel_test_not_json: "上游返回的不是 JSON 对象。",
  channel_changed: "渠道已被修改，请刷新页面后重试。",
  token_name_too_long: "令牌名称过长。",
  token_not_found: "令牌不存在。",
  token_expired: "令牌已过期，无法启用，请先修改过期时间或设为永不过期。",
  token_disabled_by_admin: "该令牌已被管理员禁用，请联系管理员启用。",
  token_quota_used_up: "令牌额度已用尽，无法启用，请先修改剩余额度或设为无限额度。",
  token_group_not_permitted: "无权使用分组 {g}。",
  ip_range_invalid: "无效的 IP 地址或网段：{line}",
  too_many_tokens: "最多只能有 {n} 个令牌。",
  too_many_access_tokens: "最多只能有 {n} 个访问令牌，请删除不再需要的令牌。",
  code_name_invalid: "兑换码名称须为 1 到 20 个字符。",
  code_count_too_small: "兑换码数量须大于 0。",
  code_count_too_large: "一次最多生成 100 个兑换码。",
  code_not_found: "兑换码不存在。",
  code_already_used: "已使用的兑换码不能启用或编辑。",
  code_missing: "请输入兑换码！",
  code_invalid: "兑换码无效。",
  code_redeemed: "兑换码已被使用。",
  code_disabled: "兑换码已被禁用。",
  code_quota_invalid: "兑换额度须为大于 0 的整数。",
  code_not_for_admins: "管理员可查看所有兑换码，因此不能兑换。",
  topup_below_minimum: "充值金额不能小于 {min}",
  topup_too_low: "充值金额过低。",
  payment_not_configured: "管理员尚未配置在线支付。",
  payment_method_unknown: "未知的支付方式。",
  order_not_created: "无法创建订单。",
  payment_signature_wrong: "支付事件的签名错误。",
  payment_provider_unreachable: "无法连接支付平台，请稍后再试。",
  entity_managed: "{kind} {name} 由 {owner} 管理，请在那里修改。",
  document_invalid: "文档 {name} 无法使用：{reason}",
  mass_deletion_refused: "{manager} 管理的内容将有一半以上被删除。如确有此意，请使用强制选项。",
  log_time_missing: "请选择日志时间。",
  log_span_too_long: "时间跨度不能超过 1 个月。",
  log_not_found: "日志不存在。",
  budget_not_found: "预算不存在。",
  budget_exists: "已有相同周期的预算。",
  time_zone_unknown: "时区 {zone} 不存在。",
  budget_subject_unknown: "{scope} {subject} 不存在。",
  only_replica: "当前只有一个进程在运行，没有其他进程可以接替。",
  no_leader: "目前没有主节点，请几秒后重试。",
  stored_file_not_found: "文件不存在。",
  stored_file_not_deleted: "服务商未删除该文件：{reason}",
  job_not_found: "任务不存在。",
  setup_already_done: "系统已经初始化。",
  setup_done: "系统已初始化。",
  setup_token_required: "从其他机器初始化需要初始化令牌：请设置 FAIRWAY_SETUP_TOKEN 并填写其值。",
};

/** The beginning of the rule for prices by prompt length. */
const BORDERS = 'borders such as {"my-model":[{"above":200000,"input":2,"output":1.5}]}';

/** The beginning of the rule for models to fall back to. */
const MODELS = 'lists of models such as {"model-a":["model-b"]}';
const MODELS_ZH = '模型列表，例如 {"model-a":["model-b"]}';

/** The beginning of the rule for strategies by model. */
const STRATEGIES = 'strategies such as {"gpt-*":"latency"}';
const STRATEGIES_ZH = '策略，例如 {"gpt-*":"latency"}';

/** Rules of inputs in the wording of the server and the option tables; `#` is a number or a name. */
const RULES: readonly (readonly [en: string, zh: string])[] = [
  [REASONS.string, "须为文本"],
  [REASONS.integer, "须为整数"],
  [REASONS.number, "须为数字"],
  [REASONS.boolean, "须为布尔值"],
  [REASONS.integers, "须为整数数组"],
  [REASONS.strings, "须为文本数组"],
  [REASONS.object, "须为 JSON 对象"],
  [REASONS.unknown, "不是此接口的字段"],
  ["is no member of this call; did you mean #?", "不是此接口的字段，您是否想写 #？"],
  [REASONS.unsupported, "不受支持，请留空"],
  ["must be at least #", "须不小于 #"],
  ["must be at most #", "须不大于 #"],
  [fill(REASONS.tooLong, { n: "#" }), "过长，请缩短到 # 个字符以内"],
  [fill(REASONS.tooMany, { n: "#" }), "条目过多，每次最多 # 条"],
  [REASONS.scopes, "须列出 read、write，或某一范围的权限，例如 channels:read"],
  [
    "modalities such as text+image->text, of text, image, audio, video, file and embeddings, for #",
    "模态，例如 text+image->text，可用 text、image、audio、video、file 和 embeddings（#）",
  ],
  [`${BORDERS}; for # there is not a list of at most # borders`, "价格分段，# 须为最多 # 段的列表"],
  [`${BORDERS}; for # a border is no object`, "价格分段，# 的每一段须为对象"],
  [`${BORDERS}; for # # is unknown`, "价格分段，# 中的 # 不是已知字段"],
  [`${BORDERS}; for # above is not from 1 to #`, "价格分段，# 的 above 须在 1 到 # 之间"],
  [`${BORDERS}; for # # is there twice`, "价格分段，# 中的 # 重复"],
  [`${BORDERS}; for # input is missing`, "价格分段，# 缺少 input"],
  [`${BORDERS}; for # # is not from 0 to #`, "价格分段，# 的 # 须在 0 到 # 之间"],
  [`${MODELS}; # must be a list of models`, `${MODELS_ZH}；# 须为模型列表`],
  [`${MODELS}; # must be an object such as #`, `${MODELS_ZH}；# 须为对象，例如 #`],
  [`${MODELS}; # has more than # models`, `${MODELS_ZH}；# 最多 # 个模型`],
  [`${MODELS}; # names # itself`, `${MODELS_ZH}；# 不可包含自身（#）`],
  [`${MODELS}; # names # twice`, `${MODELS_ZH}；# 中的 # 重复`],
  [
    `${MODELS}; # has an item that is neither a name nor an object such as #`,
    `${MODELS_ZH}；# 的每一项须为名称或对象，例如 #`,
  ],
  [
    `${MODELS}; # has the unknown member #; members are model and on`,
    `${MODELS_ZH}；# 中的 # 不是已知字段，可用 model 和 on`,
  ],
  [`${MODELS}; # has an item without the name of one model`, `${MODELS_ZH}；# 的每一项须有一个模型名称`],
  [`${MODELS}; # has causes for # other than #`, `${MODELS_ZH}；# 中 # 的原因须为 #`],
  [`${MODELS}; # has the name "#"; * may stand only at its end`, `${MODELS_ZH}；# 的名称“#”中，* 只能在末尾`],
  [`${MODELS}; has the name "#"; * may stand only at its end`, `${MODELS_ZH}；名称“#”中，* 只能在末尾`],
  [`${STRATEGIES}; # must be one of #`, `${STRATEGIES_ZH}；# 须为 # 之一`],
  [`${STRATEGIES}; has the name "#"; * may stand only at its end`, `${STRATEGIES_ZH}；名称“#”中，* 只能在末尾`],
  ["weight, least_busy, latency or cost", " weight、least_busy、latency 或 cost"],
  ["filters of a host; an object is needed for #", "主机过滤规则，# 须为对象"],
  ["filters of a host; # is not known for #", "主机过滤规则，# 不是已知字段（#）"],
  ["filters of a host; # is never left out for #", "主机过滤规则，# 不可去除（#）"],
  ["filters of a host; # for #", "主机过滤规则：#（#）"],
  ["true or false", " true 或 false"],
  ["an integer not below #", "不小于 # 的整数"],
  ["an integer from # to #", " # 到 # 之间的整数"],
  ["a number not below #", "不小于 # 的数字"],
  ["a number above #", "大于 # 的数字"],
  ["a number not above # for #", "不大于 # 的数字（#）"],
  ["at most # long", "最长 # 的文本"],
  ["# to # characters long", " # 到 # 个字符"],
  ["a JSON array of at most # rules", "最多 # 条规则的 JSON 数组"],
  ["affinity rules; in rule # #", "会话规则；第 # 条：#"],
  ["an http(s) address or empty", " http(s) 地址或留空"],
  ["a link without a script scheme", "不含脚本协议的链接"],
  ["a three-letter currency of the card payment provider", "银行卡支付平台支持的三字母币种"],
  ["allow or block", " allow 或 block"],
  ["both, prompt or answer", " both、prompt 或 answer"],
  ["hour, day or week", " hour、day 或 week"],
  ["user or token", " user 或 token"],
  ["assume or refuse", " assume 或 refuse"],
  ["limits by group such as #", "按分组的限制，例如 #"],
  ["lists of channel ids or tags by group such as #", "按分组的渠道编号或标签列表，例如 #"],
  ["ratios not below # by model such as #", "按模型的倍率（不小于 #），例如 #"],
  ["limits such as # for #", "限制，例如 #（#）"],
  ["limits such as #", "限制，例如 #"],
];

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

const RULE_PATTERNS = RULES.map(([en, zh]) => ({
  pattern: new RegExp(`^${escaped(en).replaceAll("#", "(.+)")}$`, "s"),
  zh,
}));

/** Translates a rule into Chinese; an unknown one stays unchanged. */
export function ruleInChinese(text: string): string {
  for (const { pattern, zh } of RULE_PATTERNS) {
    const found = pattern.exec(text);
    if (!found) continue;
    let place = 0;
    return zh.replaceAll("#", () => found[++place] ?? "");
  }
  return text;
}

/** Returns the values in a text that fill the placeholders of a template. */
function findValues(template: string, text: string): ReadonlyMap<string, string> | undefined {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
  const pattern = escaped(template).replaceAll(/\\\{\w+\\\}/g, "(.*?)");
  const found = new RegExp(`^${pattern}$`, "s").exec(text);
  return found ? new Map(names.map((name, index) => [name, found[index + 1] ?? ""])) : undefined;
}

const RULE_PLACES: ReadonlySet<string> = new Set(["rule", "reason"]);

/** Translates a server message into Chinese; a text that does not match its code stays unchanged. */
export function inChinese(key: MessageKey, text: string): string {
  const values = findValues(MESSAGES[key].text, text);
  if (!values) return text;
  return messages[key].replace(/\{(\w+)\}/g, (place, name: string) => {
    const value = values.get(name);
    if (value === undefined) return place;
    return RULE_PLACES.has(name) ? ruleInChinese(value) : value;
  });
}
