// The fields of a channel that people set, each declared once. Calls, columns, checks, copies, documents, the resource
// definition of Kubernetes, flags of the command line, the form of the console and the reference derive from this table.
// It has no schemas, because the command line reads its flags at the start of every command; `channel-shapes.ts` builds
// the schemas.
import { GROUP_NAME_MAX, MODEL_NAME_MAX } from "../core/constants.ts";

/** The lowest priority that a channel may have. */
export const LOWEST_PRIORITY = -999;

/** The highest cost ratio that a channel may have. */
export const MAX_COST_RATIO = 1_000_000;

/**
 * How a field is written. `type` and `state` are numbers in calls and words in documents; `flag` is 0 or 1, `list` a
 * comma list, and `object` JSON text of an object.
 */
type FieldKind = "type" | "state" | "text" | "whole" | "decimal" | "list" | "flag" | "object";

interface ChannelFormField {
  /** Keys of texts of the form. */
  readonly label?: string;
  readonly help?: string;
  readonly problem?: string;
  /** The lowest number that the form accepts, if calls accept lower ones. */
  readonly least?: number;
  /** True if a blank input stands for the initial value. */
  readonly isBlankInitially?: true;
}

interface ChannelDocumentField {
  readonly member: string;
  /** Bounds that differ from those of calls: of a number, of the characters of a text, or of the items of a list. */
  readonly least?: number;
  readonly most?: number;
  /** Characters of an item of a list at most. */
  readonly mostOfItem?: number;
  /** True if the values of an object may be other than text. */
  readonly hasAnyValues?: true;
  readonly about?: string;
}

export interface ChannelField {
  readonly kind: FieldKind;
  /** The lowest number, and the largest number or length of the text, that a call may send. */
  readonly least?: number;
  readonly most?: number;
  /** True if answers of older gateways lack it. */
  readonly isNew?: true;
  /** The value of a new channel whose form lacks it. */
  readonly initial: string | number;
  readonly about: string;
  /** True if the column is null in place of blank text. */
  readonly isNullable?: true;
  /** True if the relay reads the stored value as it is, under the same name in camel case. */
  readonly isRelayed?: true;
  /** JSON text whose members may be secrets; a path leads to them if the rules need one. */
  readonly secretsAt?: readonly string[];
  /** The member of documents. */
  readonly document?: ChannelDocumentField;
  /** The flag of `fairway channel create` and `update`. */
  readonly flag?: { readonly argument: string; readonly about?: string };
  /** Present if the console's form has the field. */
  readonly form?: ChannelFormField;
}

/** Characters of a long text. */
const LONG = 512 * 1024;
/** The largest number of some columns. */
const MAX_INTEGER = 2_147_483_647;

/** In the order of the form, which is the order of editors and exports. */
export const CHANNEL_FIELDS = {
  type: {
    kind: "type",
    initial: 1,
    about: "Number of the provider: GET /api/channel/types.",
    isRelayed: true,
    form: {},
  },
  name: {
    kind: "text",
    most: 191,
    initial: "",
    about: "Name that people gave it.",
    isRelayed: true,
    document: { member: "displayName", least: 1 },
    form: {},
  },
  base_url: {
    kind: "text",
    most: 512,
    initial: "",
    about: "Address of the upstream; blank = that of the type.",
    document: { member: "baseUrl" },
    flag: { argument: "<url>", about: "instead of the provider's own" },
    form: {},
  },
  models: {
    kind: "list",
    most: LONG,
    initial: "",
    about: "Comma list of models.",
    document: {
      member: "models",
      least: 1,
      most: 512,
      mostOfItem: MODEL_NAME_MAX,
      about: "Names of models.",
    },
    form: {},
  },
  group: {
    kind: "list",
    most: 255,
    initial: "default",
    about: "Comma list of the groups that it serves; in a filter one of them.",
    document: { member: "groups", most: 128, mostOfItem: GROUP_NAME_MAX, about: "Names of groups." },
    form: {},
  },
  priority: {
    kind: "whole",
    least: LOWEST_PRIORITY,
    initial: 0,
    about: "Channels of the highest one that can serve are tried first.",
    isRelayed: true,
    document: { member: "priority" },
    flag: { argument: "<number>", about: "higher is tried first" },
    form: { label: "priority", help: "priorityHelp", problem: "badPriority" },
  },
  weight: {
    kind: "whole",
    most: MAX_INTEGER,
    initial: 0,
    about: "Share among channels of equal priority; one below 0 becomes 0.",
    document: { member: "weight", least: 0 },
    flag: { argument: "<number>", about: "share inside a priority" },
    form: { label: "weight", help: "weightHelp", problem: "badWeight", least: 0 },
  },
  max_input_tokens: {
    kind: "whole",
    least: 0,
    most: MAX_INTEGER,
    initial: 0,
    about: "Longest prompt that the channel accepts; 0 = any.",
    isRelayed: true,
    document: { member: "maxInputTokens" },
    form: { label: "maxInput", help: "maxInputHelp", problem: "badMaxInput", isBlankInitially: true },
  },
  cost_ratio: {
    kind: "decimal",
    least: 0,
    most: MAX_COST_RATIO,
    isNew: true,
    initial: 1,
    about: "What the operator pays, relative to the list price; 1 by default. The strategy `cost` prefers lower ones.",
    isRelayed: true,
    document: { member: "costRatio" },
    flag: { argument: "<number>", about: "what is paid, relative to the list price" },
    form: { label: "costRatio", help: "costRatioHelp", problem: "badCostRatio" },
  },
  tag: {
    kind: "text",
    most: 191,
    initial: "",
    about: "Label that channels share.",
    isNullable: true,
    document: { member: "tag" },
    flag: { argument: "<name>" },
    form: {},
  },
  test_model: {
    kind: "text",
    most: 191,
    initial: "",
    about: "Model of the channel test.",
    isRelayed: true,
    document: { member: "testModel" },
    flag: { argument: "<name>" },
    form: {},
  },
  other: {
    kind: "text",
    most: LONG,
    initial: "",
    about: "API version, region or the like, depending on the type.",
    isRelayed: true,
    document: { member: "other" },
    flag: { argument: "<text>", about: "region, version or another setting that the type requires" },
    form: {},
  },
  openai_organization: {
    kind: "text",
    most: 191,
    initial: "",
    about: "Organization header for OpenAI.",
    document: { member: "openaiOrganization" },
    form: {},
  },
  model_mapping: {
    kind: "object",
    most: LONG,
    initial: "",
    about: "JSON object text: asked name to upstream name.",
    document: { member: "modelMapping", about: "Asked name to upstream name." },
    flag: { argument: "<json>", about: "JSON object, or @file" },
    form: { problem: "badMapping" },
  },
  status_code_mapping: {
    kind: "object",
    most: 1024,
    initial: "",
    about: "JSON object text: upstream status to client status.",
    document: { member: "statusCodeMapping", about: "Upstream status to client status." },
    flag: { argument: "<json>", about: "JSON object, or @file" },
    form: { problem: "badStatusMapping" },
  },
  auto_ban: {
    kind: "flag",
    least: 0,
    most: 1,
    initial: 1,
    about: "1 = the gateway may disable it, 0 = never.",
    document: { member: "autoBan", about: "True: the gateway may disable it." },
    form: {},
  },
  setting: {
    kind: "object",
    most: LONG,
    initial: "",
    about:
      "JSON object text: settings, with hints in place of secrets: `****`, for long ones with their last characters. A hint that is sent back leaves the stored secret unchanged, here and in the next two.",
    isNullable: true,
    secretsAt: [],
    document: {
      member: "settings",
      hasAnyValues: true,
      about: "Settings, replaced as a whole: limits, key_limits, multi_key_mode, proxy and the like.",
    },
  },
  param_override: {
    kind: "object",
    most: LONG,
    initial: "",
    about: "JSON object text: members that replace those of each request.",
    isNullable: true,
    secretsAt: [],
    document: {
      member: "paramOverride",
      hasAnyValues: true,
      about: "Members that replace those of each request, set as a whole.",
    },
  },
  header_override: {
    kind: "object",
    most: LONG,
    initial: "",
    about: "JSON object text: headers of every call, with {key} for the key.",
    isNullable: true,
    secretsAt: ["headers"],
    document: {
      member: "headerOverride",

      about: "Headers of every call, set as a whole, with `{key}` for the key.",
    },
  },
  status: {
    kind: "state",
    initial: 1,
    about: "1 = enabled, 2 = disabled by hand, 3 = disabled by the gateway.",
    isRelayed: true,
    document: { member: "enabled", about: "False: disabled by hand." },
  },
} as const satisfies Readonly<Record<string, ChannelField>>;

type Fields = typeof CHANNEL_FIELDS;
export type ChannelFieldName = keyof Fields;

/** The fields that have a property, such as `form`. */
export type ChannelFieldWith<P extends keyof ChannelField> = {
  [F in ChannelFieldName]: Fields[F] extends Readonly<Record<P, unknown>> ? F : never;
}[ChannelFieldName];

export const CHANNEL_FIELD_NAMES = Object.keys(CHANNEL_FIELDS) as readonly ChannelFieldName[];

/** Returns the names of the fields that have a property, in the order of the table. */
export function listChannelFields<P extends keyof ChannelField>(property: P): readonly ChannelFieldWith<P>[] {
  const names = CHANNEL_FIELD_NAMES.filter((name) => property in CHANNEL_FIELDS[name]);
  return names as unknown as readonly ChannelFieldWith<P>[];
}

/** The value that calls send for a field. */
export type ChannelFieldValue<F extends ChannelFieldName> = Fields[F]["kind"] extends "text" | "list" | "object"
  ? string
  : number;

/** The stored value of each field. */
export type ChannelColumns = {
  readonly [F in ChannelFieldName]:
    | ChannelFieldValue<F>
    | (Fields[F] extends { readonly isNullable: true } ? null : never);
};

export type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

/** The fields that the relay reads as they are stored. */
export type RelayedFields = {
  readonly [F in ChannelFieldWith<"isRelayed"> as CamelCase<F>]: ChannelColumns[F];
};

/** Returns `maxInputTokens` for `max_input_tokens`. */
export function toCamelCase<S extends string>(name: S): CamelCase<S> {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) as CamelCase<S>;
}

const RELAYED = listChannelFields("isRelayed").map((name) => [name, toCamelCase(name)] as const);

/** Returns the fields of a row that the relay reads as they are stored; absent ones have their initial value. */
export function readRelayedFields(row: Partial<ChannelColumns>): RelayedFields {
  const read = RELAYED.map(([name, member]) => [member, row[name] ?? CHANNEL_FIELDS[name].initial]);
  return Object.fromEntries(read) as RelayedFields;
}
