// The fields of a channel that people set, each declared once. Calls, columns, checks, copies, documents, the resource
// definition of Kubernetes, flags of the command line, the form of the console and the reference derive from this table.
import * as z from "zod/mini";
import { textUpTo } from "../core/characters.ts";

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

export interface ChannelField {
  readonly kind: FieldKind;
  /** Checks the value that a call sends. */
  readonly input: z.ZodMiniType;
  /** The value in answers; optional if older gateways lack it. */
  readonly shown: z.ZodMiniType;
  /** The value of a new channel whose form lacks it. */
  readonly initial: string | number;
  readonly about: string;
  /** True if the column is null in place of blank text. */
  readonly isNullable?: true;
  /** True if the relay reads the stored value as it is, under the same name in camel case. */
  readonly isRelayed?: true;
  /** JSON text whose members may be secrets; a path leads to them if the rules need one. */
  readonly secretsAt?: readonly string[];
  /** The member of documents; its schema is that of calls unless it has its own. */
  readonly document?: { readonly member: string; readonly schema?: z.ZodMiniType; readonly about?: string };
  /** The flag of `fairway channel create` and `update`. */
  readonly flag?: { readonly argument: string; readonly about?: string };
  /** Present if the console's form has the field. */
  readonly form?: ChannelFormField;
}

const longText = textUpTo(512 * 1024);
const name191 = textUpTo(191);
const text = z.string();
const whole = z.int();
/** Names that are stored comma-separated. */
const names = z.array(
  text.check(z.refine((name) => !name.includes(","), "one name; write names with a comma between as two items")),
);
const textMap = z.optional(z.record(text, text));
const anyMap = z.optional(z.record(text, z.unknown()));
const flag = z.optional(z.boolean());

/** In the order of the form, which is the order of editors and exports. */
export const CHANNEL_FIELDS = {
  type: {
    kind: "type",
    input: whole,
    shown: whole,
    initial: 1,
    about: "Number of the provider: GET /api/channel/types.",
    isRelayed: true,
    form: {},
  },
  name: {
    kind: "text",
    input: name191,
    shown: text,
    initial: "",
    about: "Name that people gave it.",
    isRelayed: true,
    document: { member: "displayName", schema: z.optional(name191.check(z.minLength(1))) },
    form: {},
  },
  base_url: {
    kind: "text",
    input: textUpTo(512),
    shown: text,
    initial: "",
    about: "Address of the upstream; blank = that of the type.",
    document: { member: "baseUrl" },
    flag: { argument: "<url>", about: "instead of the provider's own" },
    form: {},
  },
  models: {
    kind: "list",
    input: longText,
    shown: text,
    initial: "",
    about: "Comma list of models.",
    document: {
      member: "models",
      schema: z.optional(names.check(z.minLength(1), z.maxLength(512))),
      about: "Names of models.",
    },
    form: {},
  },
  group: {
    kind: "list",
    input: longText,
    shown: text,
    initial: "default",
    about: "Comma list of the groups that it serves; in a filter one of them.",
    document: { member: "groups", schema: z.optional(names), about: "Names of groups." },
    form: {},
  },
  priority: {
    kind: "whole",
    input: z.int().check(z.minimum(LOWEST_PRIORITY)),
    shown: whole,
    initial: 0,
    about: "Channels of the highest one that can serve are tried first.",
    isRelayed: true,
    document: { member: "priority" },
    flag: { argument: "<number>", about: "higher is tried first" },
    form: { label: "priority", help: "priorityHelp", problem: "badPriority" },
  },
  weight: {
    kind: "whole",
    input: z.int().check(z.maximum(2_147_483_647)),
    shown: whole,
    initial: 0,
    about: "Share among channels of equal priority; one below 0 becomes 0.",
    document: { member: "weight", schema: z.optional(z.int().check(z.minimum(0), z.maximum(2_147_483_647))) },
    flag: { argument: "<number>", about: "share inside a priority" },
    form: { label: "weight", help: "weightHelp", problem: "badWeight", least: 0 },
  },
  max_input_tokens: {
    kind: "whole",
    input: z.int().check(z.minimum(0), z.maximum(2_147_483_647)),
    shown: whole,
    initial: 0,
    about: "Longest prompt that the channel accepts; 0 = any.",
    isRelayed: true,
    document: { member: "maxInputTokens" },
    form: { label: "maxInput", help: "maxInputHelp", problem: "badMaxInput", isBlankInitially: true },
  },
  cost_ratio: {
    kind: "decimal",
    input: z.number().check(z.minimum(0), z.maximum(MAX_COST_RATIO)),
    shown: z.optional(z.number()),
    initial: 1,
    about: "What the operator pays, relative to the list price; 1 by default. The strategy `cost` prefers lower ones.",
    isRelayed: true,
    document: { member: "costRatio" },
    flag: { argument: "<number>", about: "what is paid, relative to the list price" },
    form: { label: "costRatio", help: "costRatioHelp", problem: "badCostRatio" },
  },
  tag: {
    kind: "text",
    input: name191,
    shown: z.nullable(text),
    initial: "",
    about: "Label that channels share.",
    isNullable: true,
    document: { member: "tag" },
    flag: { argument: "<name>" },
    form: {},
  },
  test_model: {
    kind: "text",
    input: name191,
    shown: text,
    initial: "",
    about: "Model of the channel test.",
    isRelayed: true,
    document: { member: "testModel" },
    flag: { argument: "<name>" },
    form: {},
  },
  other: {
    kind: "text",
    input: longText,
    shown: text,
    initial: "",
    about: "API version, region or the like, depending on the type.",
    isRelayed: true,
    document: { member: "other" },
    flag: { argument: "<text>", about: "region, version or another setting that the type requires" },
    form: {},
  },
  openai_organization: {
    kind: "text",
    input: name191,
    shown: text,
    initial: "",
    about: "Organization header for OpenAI.",
    document: { member: "openaiOrganization" },
    form: {},
  },
  model_mapping: {
    kind: "object",
    input: longText,
    shown: text,
    initial: "",
    about: "JSON object text: asked name to upstream name.",
    document: { member: "modelMapping", schema: textMap, about: "Asked name to upstream name." },
    flag: { argument: "<json>", about: "JSON object, or @file" },
    form: { problem: "badMapping" },
  },
  status_code_mapping: {
    kind: "object",
    input: textUpTo(1024),
    shown: text,
    initial: "",
    about: "JSON object text: upstream status to client status.",
    document: { member: "statusCodeMapping", schema: textMap, about: "Upstream status to client status." },
    flag: { argument: "<json>", about: "JSON object, or @file" },
    form: { problem: "badStatusMapping" },
  },
  auto_ban: {
    kind: "flag",
    input: z.int().check(z.minimum(0), z.maximum(1)),
    shown: whole,
    initial: 1,
    about: "1 = the gateway may disable it, 0 = never.",
    document: { member: "autoBan", schema: flag, about: "True: the gateway may disable it." },
    form: {},
  },
  setting: {
    kind: "object",
    input: longText,
    shown: text,
    initial: "",
    about:
      "JSON object text: settings, with hints in place of secrets: `****`, for long ones with their last characters. A hint that is sent back leaves the stored secret unchanged, here and in the next two.",
    isNullable: true,
    secretsAt: [],
    document: {
      member: "settings",
      schema: anyMap,
      about: "Settings, replaced as a whole: limits, key_limits, multi_key_mode, proxy and the like.",
    },
  },
  param_override: {
    kind: "object",
    input: longText,
    shown: text,
    initial: "",
    about: "JSON object text: members that replace those of each request.",
    isNullable: true,
    secretsAt: [],
    document: {
      member: "paramOverride",
      schema: anyMap,
      about: "Members that replace those of each request, set as a whole.",
    },
  },
  header_override: {
    kind: "object",
    input: longText,
    shown: text,
    initial: "",
    about: "JSON object text: headers of every call, with {key} for the key.",
    isNullable: true,
    secretsAt: ["headers"],
    document: {
      member: "headerOverride",
      schema: textMap,
      about: "Headers of every call, set as a whole, with `{key}` for the key.",
    },
  },
  status: {
    kind: "state",
    input: whole,
    shown: whole,
    initial: 1,
    about: "1 = enabled, 2 = disabled by hand, 3 = disabled by the gateway.",
    isRelayed: true,
    document: { member: "enabled", schema: flag, about: "False: disabled by hand." },
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

/** The stored value of each field. */
export type ChannelColumns = {
  readonly [F in ChannelFieldName]:
    | z.output<Fields[F]["input"]>
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

type ShownShape = { readonly [F in ChannelFieldName]: Fields[F]["shown"] };
type InputShape = { readonly [F in ChannelFieldName]: z.ZodMiniOptional<Fields[F]["input"]> };
type InDocuments = ChannelFieldWith<"document">;
/** The name of a field in documents. */
export type DocumentMember<F extends InDocuments> = Fields[F]["document"]["member"];
type DocumentShape = {
  readonly [F in InDocuments as DocumentMember<F>]: Fields[F]["document"] extends { readonly schema: infer S }
    ? S
    : z.ZodMiniOptional<Fields[F]["input"]>;
};

function mapFields(map: (field: ChannelField) => z.ZodMiniType): Readonly<Record<string, z.ZodMiniType>> {
  return Object.fromEntries(CHANNEL_FIELD_NAMES.map((name) => [name, map(CHANNEL_FIELDS[name])]));
}

export const shownChannelFields = mapFields(({ shown }) => shown) as ShownShape;
export const sentChannelFields = mapFields(({ input }) => z.optional(input)) as InputShape;

export const channelDocumentFields = Object.fromEntries(
  listChannelFields("document").map((name) => {
    const { input, document }: ChannelField = CHANNEL_FIELDS[name];
    return [document?.member, document?.schema ?? z.optional(input)];
  }),
) as DocumentShape;
