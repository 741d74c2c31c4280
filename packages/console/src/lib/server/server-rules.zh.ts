import { fill, REASONS } from "@fairway/wire";

/** Returns the pattern of a text as it is. */
export function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

/** The beginning of the rule for prices by prompt length. */
const BORDERS = 'borders such as {"my-model":[{"above":200000,"input":2,"output":1.5}]}';

/** The beginning of the rule for models to fall back to. */
const MODELS = 'lists of models such as {"model-a":["model-b"]}';
const MODELS_ZH = '模型列表，例如 {"model-a":["model-b"]}';

/** The beginning of the rule for strategies by model. */
const STRATEGIES = 'strategies such as {"gpt-*":"latency"}';
const STRATEGIES_ZH = '策略，例如 {"gpt-*":"latency"}';

/** The beginnings of the rules for tags. */
const TAGS = 'a policy such as {"keys":{"app":{"values":["shop","crm"]}}}';
const TAGS_ZH = '标签规则，例如 {"keys":{"app":{"values":["shop","crm"]}}}';
const TAG_HEADERS = 'headers such as {"Helicone-Property-App":"app"}';
const TAG_HEADERS_ZH = '请求头，例如 {"Helicone-Property-App":"app"}';

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
  [fill(REASONS.choice, { names: "#" }), "须为 # 之一"],
  [REASONS.tagKey, "的键须以 a-z 开头，其后最多 31 个 a-z、0-9、下划线、点和连字符"],
  [REASONS.tagKeys, "的键过多"],
  [REASONS.tagValue, "须为 1 到 64 个字符，不含控制字符、| 和 =，首尾无空格"],
  [REASONS.tagValues, "须为 any，或不含控制字符、| 和 = 的 1 到 64 个字符的值的列表"],
  [REASONS.tagLimitValues, "列出的值超过 1000 个"],
  [REASONS.tagUsers, "须为 off、client 或 required"],
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
  [`${TAGS}; # ${REASONS.tagKey}`, `${TAGS_ZH}；# 的键须以 a-z 开头，其后最多 31 个 a-z、0-9、下划线、点和连字符`],
  [`${TAGS}; # ${REASONS.tagKeys}`, `${TAGS_ZH}；# 的键过多`],
  [`${TAGS}; # ${REASONS.tagValue}`, `${TAGS_ZH}；# 须为 1 到 64 个字符，不含控制字符、| 和 =，首尾无空格`],
  [`${TAGS}; # ${REASONS.tagValues}`, `${TAGS_ZH}；# 须为 any 或值的列表`],
  [`${TAGS}; # ${REASONS.tagUsers}`, `${TAGS_ZH}；# 须为 off、client 或 required`],
  [`${TAGS}; # is not valid`, `${TAGS_ZH}；# 无效`],
  [`${TAG_HEADERS}; # is no name of a header`, `${TAG_HEADERS_ZH}；# 不是请求头名称`],
  [`${TAG_HEADERS}; # holds a secret or is read anyway`, `${TAG_HEADERS_ZH}；# 含有密钥，或本来就会读取`],
  [`${TAG_HEADERS}; # must name the key of a tag or ~end_user`, `${TAG_HEADERS_ZH}；# 须对应标签的键或 ~end_user`],
  ["at most # headers", "最多 # 个请求头"],
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
  ["off, hmac or github", " off、hmac 或 github"],
  ["disable, rotate or notify", " disable、rotate 或 notify"],
  ["both, prompt or answer", " both、prompt 或 answer"],
  ["hour, day or week", " hour、day 或 week"],
  ["user or token", " user 或 token"],
  ["admin or user", " admin 或 user"],
  ["assume or refuse", " assume 或 refuse"],
  ["limits by group such as #", "按分组的限制，例如 #"],
  ["lists of channel ids or tags by group such as #", "按分组的渠道编号或标签列表，例如 #"],
  ["ratios not below # by model such as #", "按模型的倍率（不小于 #），例如 #"],
  ["limits such as # for #", "限制，例如 #（#）"],
  ["limits such as #", "限制，例如 #"],
];

const RULE_PATTERNS = RULES.map(([en, zh]) => ({
  pattern: new RegExp(`^${escapePattern(en).replaceAll("#", "(.+)")}$`, "s"),
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
