// The fields of a token that people set, each declared once. Calls, columns, defaults, answers, tags of changes, members
// of documents, flags of the command line and the reference derive from this table. Like `CHANNEL_FIELDS` it has no
// schemas, because the command line reads its flags at the start of every command; `token-shapes.ts` builds them.
import { DEFAULT_GRACE_SECONDS, MAX_GRACE_SECONDS, NEVER_EXPIRES } from "../core/constants.ts";

/**
 * How a field is written. `time` is epoch seconds, `list` a comma list, `lines` one item a line, and `amount` quota
 * units. `limits`, `fallbacks`, `tags`, `policy` and `tag_limits` are stored as JSON text, or null if the token has none
 * of its own.
 */
type FieldKind =
  | "text"
  | "choice"
  | "whole"
  | "amount"
  | "time"
  | "flag"
  | "list"
  | "lines"
  | "limits"
  | "fallbacks"
  | "tags"
  | "policy"
  | "tag_limits";

export interface TokenField {
  readonly kind: FieldKind;
  /** The lowest number, and the largest number or length of the text, that a call may send. */
  readonly least?: number;
  readonly most?: number;
  /** The texts of a `choice`. */
  readonly choices?: readonly string[];
  /** The stored value of a new token whose form lacks the field. */
  readonly initial: string | number | null;
  /** True if an update without the field leaves it as it is; otherwise it becomes `initial`. */
  readonly staysIfAbsent?: true;
  /** True if calls change the value too, so that it is not part of the tag of a change. */
  readonly isUsed?: true;
  readonly about: string;
  /** The member of documents. */
  readonly document?: string;
  /** The flag of `fairway token create` and `update`. */
  readonly flag?: {
    readonly name: string;
    readonly argument: string;
    readonly about: string;
    readonly isOfUpdate?: true;
  };
}

/** Characters of a long text. */
const LONG = 64 * 1024;
const MAX_ROTATE_DAYS = 366;

export const TOKEN_FIELDS = {
  name: { kind: "text", initial: "", about: "Name that people gave it.", document: "displayName" },
  remain_quota: { kind: "amount", initial: 0, isUsed: true, about: "Quota units that are left." },
  unlimited_quota: { kind: "flag", initial: 0, about: "True: only the balance of the owner limits it." },
  expired_time: {
    kind: "time",
    least: NEVER_EXPIRES,
    initial: NEVER_EXPIRES,
    about: "Epoch seconds; -1 = never.",
    document: "expiresAt",
  },
  model_limits_enabled: { kind: "flag", initial: 0, about: "True: only the models of `model_limits`." },
  model_limits: {
    kind: "list",
    most: LONG,
    initial: "",
    about: "Comma list of models.",
    document: "modelLimits",
    flag: { name: "models", argument: "<list>", about: "comma list of the only models that it may use" },
  },
  allow_ips: {
    kind: "lines",
    most: LONG,
    initial: "",
    about: "Addresses and networks, one a line; blank = any.",
    document: "allowIps",
    flag: { name: "allow-ip", argument: "<network...>", about: "addresses or networks that may use it" },
  },
  group: {
    kind: "text",
    initial: "",
    about: "Group whose ratio and channels count; blank = that of its owner.",
    document: "group",
    flag: { name: "group", argument: "<name>", about: "group whose channels and prices it uses" },
  },
  limits: {
    kind: "limits",
    initial: null,
    staysIfAbsent: true,
    about: "Limits of the token, within those of its user; {} = none.",
    document: "limits",
  },
  fallbacks: {
    kind: "fallbacks",
    most: LONG,
    initial: null,
    staysIfAbsent: true,
    about: "Models that serve in place of others: `inherit` (those of the operator), `off`, or a JSON list.",
    document: "fallbacks",
    flag: {
      name: "fallbacks",
      argument: "<list>",
      about: "comma list of models that serve in place of one that fails, off, or inherit",
    },
  },
  prompt_cache: {
    kind: "choice",
    choices: ["inherit", "off", "auto", "always"],
    initial: "inherit",
    staysIfAbsent: true,
    about:
      "When prompts get marks for the provider's cache: `inherit` (as the channel says), `off`, `auto` or `always`.",
    flag: {
      name: "prompt-cache",
      argument: "<mode>",
      about: "when prompts get marks for the provider's cache: inherit (as the channel says), off, auto or always",
    },
  },
  fixed_tags: {
    kind: "tags",
    initial: null,
    staysIfAbsent: true,
    about: "Tags of every call with the token, which clients cannot override.",
  },
  tags: {
    kind: "policy",
    initial: null,
    staysIfAbsent: true,
    about: "Which tags of calls with the token are stored; {} = as the team or the operator decides.",
  },
  tag_limits: {
    kind: "tag_limits",
    initial: null,
    staysIfAbsent: true,
    about: "Limits of calls by the value of a tag, or by the end user; {} = none.",
    document: "tagLimits",
    flag: {
      name: "tag-limits",
      argument: "<json>",
      about:
        'limits by tag value or end user, such as {"end_user": {"*": {"rpm": 20}, "42": {"blocked": true}}}; {} = none',
    },
  },
  rotate_days: {
    kind: "whole",
    least: 0,
    most: MAX_ROTATE_DAYS,
    initial: 0,
    staysIfAbsent: true,
    about: "Days after which the gateway replaces the key by itself; 0 = never.",
    flag: {
      name: "rotate-days",
      argument: "<number>",
      about: "days after which the gateway replaces the key by itself, 366 at most; 0 = never",
      isOfUpdate: true,
    },
  },
  rotate_grace_seconds: {
    kind: "whole",
    least: 0,
    most: MAX_GRACE_SECONDS,
    initial: DEFAULT_GRACE_SECONDS,
    staysIfAbsent: true,
    about: "Seconds for which a key that the gateway replaced still works.",
  },
} as const satisfies Readonly<Record<string, TokenField>>;

type Fields = typeof TOKEN_FIELDS;
export type TokenFieldName = keyof Fields;

/** The fields that have a property, such as `document`. */
export type TokenFieldWith<P extends keyof TokenField> = {
  [F in TokenFieldName]: Fields[F] extends Readonly<Record<P, unknown>> ? F : never;
}[TokenFieldName];

export const TOKEN_FIELD_NAMES = Object.keys(TOKEN_FIELDS) as readonly TokenFieldName[];

/** Returns the names of the fields that have a property, in the order of the table. */
export function listTokenFields<P extends keyof TokenField>(property: P): readonly TokenFieldWith<P>[] {
  const names = TOKEN_FIELD_NAMES.filter((name) => property in TOKEN_FIELDS[name]);
  return names as unknown as readonly TokenFieldWith<P>[];
}

interface StoredValues {
  text: string;
  choice: string;
  list: string;
  lines: string;
  whole: number;
  amount: number;
  time: number;
  flag: number;
}

/** The stored value of each field. */
export type TokenColumns = {
  readonly [F in TokenFieldName]: Fields[F]["kind"] extends keyof StoredValues
    ? StoredValues[Fields[F]["kind"]]
    : string | null;
};

/** The stored values of a new token that nothing else is known of. */
export const INITIAL_TOKEN = Object.fromEntries(
  TOKEN_FIELD_NAMES.map((name) => [name, TOKEN_FIELDS[name].initial]),
) as unknown as TokenColumns;
