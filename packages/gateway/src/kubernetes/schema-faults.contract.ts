// Wrong values of resources, drawn from their definitions: of every field, in lists and maps too.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ResourceKind } from "@fairway/wire";
import { parse } from "yaml";

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
}

interface Definition {
  readonly spec: {
    readonly names: { readonly kind: ResourceKind };
    readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: { properties: { spec: Schema } } } }];
  };
}

type Limit = keyof Schema | "unknown member" | "null";
type Step = string | number;

export interface SchemaFault {
  readonly kind: ResourceKind;
  /** The field as the API server writes it, such as `spec.fallbacks.models[0].model`. */
  readonly field: string;
  /** What the definition says and the value breaks. */
  readonly limit: Limit;
  readonly spec: object;
}

export const DEFINITIONS = join(import.meta.dirname, "../../../../charts/fairway-crds/templates");
const SPECS = new Map(
  readdirSync(DEFINITIONS).map((file) => {
    const { spec } = parse(readFileSync(join(DEFINITIONS, file), "utf8")) as Definition;
    return [spec.names.kind, spec.versions[0].schema.openAPIV3Schema.properties.spec];
  }),
);

const secretKeyRef = { name: "provider", key: "api-key" };
/** A valid resource of each kind, with an entry in each list and map and a member in each object. */
export const COMPLETE: Readonly<Record<ResourceKind, Readonly<Record<string, unknown>>>> = {
  Channel: {
    type: "openai",
    models: ["m"],
    groups: ["default"],
    modelMapping: { m: "n" },
    statusCodeMapping: { "404": "500" },
    headerOverride: { "x-team": "search" },
    settings: { proxy: "http://127.0.0.1:3128" },
    paramOverride: { temperature: 1 },
    credentialsFrom: { secretKeyRef },
    adopt: { channelId: 1 },
  },
  OptionSet: {
    values: { SystemName: "Ours" },
    json: { GroupRatio: { default: 1 } },
    valuesFrom: [{ option: "SMTPToken", secretKeyRef }],
  },
  Token: {
    owner: { username: "ann" },
    quota: { amount: 5 },
    modelLimits: ["m"],
    allowIps: ["10.0.0.0/8"],
    limits: { rpm: 5 },
    tagLimits: { app: { shop: { rpm: 5 } } },
    fallbacks: { models: [{ model: "m", on: ["error"] }] },
    writeSecretTo: { name: "search", key: "api-key" },
  },
  Budget: { scope: "user", subject: "ann", period: "day", limit: 1, thresholds: [80] },
};

/** Returns resources of a kind with one fault each. */
export function listSchemaFaults(kind: ResourceKind): SchemaFault[] {
  return [...walk(SPECS.get(kind) ?? {}, COMPLETE[kind], [])].map(([path, limit, value]) => ({
    kind,
    limit,
    field: writeField(path),
    spec: replaceAt(COMPLETE[kind], path, value) as object,
  }));
}

type Change = readonly [path: readonly Step[], limit: Limit, value: unknown];

function* walk(schema: Schema, sample: unknown, path: readonly Step[]): Generator<Change> {
  if (path.length > 0) for (const [limit, value] of listWrongValues(schema, sample)) yield [path, limit, value];
  const members = schema.properties;
  if (members) yield [[...path, "colour"], "unknown member", "red"];
  for (const name of schema.required ?? []) yield [[...path, name], "required", undefined];
  for (const [name, member] of Object.entries(members ?? {})) yield* walkMember(member, sample, [...path, name]);
  if (schema.items) yield* walkMember(schema.items, sample, [...path, 0]);
  if (schema.additionalProperties)
    yield* walkMember(schema.additionalProperties, sample, [...path, Object.keys(sample as object)[0] ?? ""]);
}

function* walkMember(schema: Schema, parent: unknown, path: readonly Step[]): Generator<Change> {
  const sample = (parent as Readonly<Record<Step, unknown>>)[path.at(-1) ?? ""];
  const isNested = schema.properties ?? schema.items ?? schema.additionalProperties;
  if (isNested && sample === undefined) throw new Error(`the complete resource has no ${writeField(path)}`);
  yield* walk(schema, sample, path);
}

/** Limit of a schema -> a value that breaks it; `sample` is a valid value of the field. */
const BREAKERS: readonly (readonly [Limit, (schema: Schema, sample: unknown) => unknown])[] = [
  ["type", ({ type }) => (type === "string" ? 5 : "wrong")],
  ["enum", () => "no-such-value"],
  ["format", () => "tomorrow"],
  ["minimum", ({ minimum = 0 }) => minimum - 1],
  ["maximum", ({ maximum = 0 }) => maximum + 1],
  ["minLength", ({ minLength = 1 }) => "x".repeat(minLength - 1)],
  ["maxLength", ({ maxLength = 0 }) => "x".repeat(maxLength + 1)],
  ["minItems", ({ minItems = 1 }, sample) => (sample as unknown[]).slice(0, minItems - 1)],
  ["maxItems", ({ maxItems = 0 }, sample) => Array.from({ length: maxItems + 1 }, () => (sample as unknown[])[0])],
  ["maxProperties", ({ maxProperties = 0 }) => buildTexts(maxProperties + 1)],
];
/** The format of integers is no limit of their value. */
const WIDTH = "int64";

function* listWrongValues(schema: Schema, sample: unknown): Generator<readonly [Limit, unknown]> {
  // A value of any form is checked by the gateway alone.
  if (schema.type === undefined) return;
  if (!schema.nullable) yield ["null", null];
  for (const [limit, breakValue] of BREAKERS) {
    const isSet = limit in schema && (limit !== "format" || schema.format !== WIDTH);
    if (isSet) yield [limit, breakValue(schema, sample)];
  }
}

function buildTexts(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, "x"]));
}

/** Returns a copy with another value at a path; undefined removes the member. */
function replaceAt(value: unknown, [step, ...rest]: readonly Step[], replacement: unknown): unknown {
  if (step === undefined) return replacement;
  if (Array.isArray(value))
    return value.map((one: unknown, at) => (at === step ? replaceAt(one, rest, replacement) : one));
  const { [step]: before, ...others } = value as Readonly<Record<Step, unknown>>;
  const after = replaceAt(before, rest, replacement);
  return after === undefined ? others : { ...others, [step]: after };
}

function writeField(path: readonly Step[]): string {
  return path.reduce<string>(
    (text, step) => (typeof step === "number" ? `${text}[${step}]` : `${text}.${step}`),
    "spec",
  );
}
