// A limit of a field is declared once: custom resources, documents and calls accept the same.
import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import {
  budgetCreate,
  CHANNEL_FIELDS,
  ChannelInput,
  DeclarativeDocument,
  jsonSchema,
  TokenInput,
  type ChannelField,
  type ResourceKind,
} from "../../packages/wire/src/index.ts";
import { customResources } from "./crds.ts";

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: unknown;
  readonly [limit: string]: unknown;
}

interface Definition {
  readonly spec: {
    readonly names: { readonly kind: ResourceKind };
    readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: { properties: { spec: Schema } } } }];
  };
}

const LIMITS = ["enum", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties"];

/** Limits that the API server needs to bound the work of its rules; documents from a folder need none. */
const SERVER_ALONE: Readonly<Record<string, string>> = {
  "Channel.type enum": "providers of this version, which the gateway looks up",
  "Channel.credentialsFrom.secretKeyRef.name maxLength": "of Kubernetes; documents have it in a pattern",
  "Channel.credentialsFrom.secretKeyRef.key maxLength": "of Kubernetes; documents have it in a pattern",
  "OptionSet.values maxProperties": "work of the rules for options",
  "OptionSet.values.* maxLength": "work of the rules for options",
  "OptionSet.json maxProperties": "as for values",
  "OptionSet.valuesFrom maxItems": "work of the rule for names",
  "OptionSet.valuesFrom[].option maxLength": "work of the rule for names",
  "OptionSet.valuesFrom[].secretKeyRef.name maxLength": "of Kubernetes; documents have it in a pattern",
  "OptionSet.valuesFrom[].secretKeyRef.key maxLength": "of Kubernetes; documents have it in a pattern",
  "Token.owner.username maxLength": "work of the rule for blank names",
  "Token.owner.team maxLength": "of slugs; documents have it in a pattern",
  "Token.modelLimits maxItems": "work of the rule for names",
  "Token.allowIps maxItems": "work of the rule for networks",
  "Token.writeSecretTo.name maxLength": "of Kubernetes; documents have it in a pattern",
  "Token.writeSecretTo.key maxLength": "of Kubernetes; documents have it in a pattern",
};

/** Limits in which a call and a document differ on purpose. */
const CALL_ALONE: Readonly<Record<string, string>> = {
  "Budget.length minimum": "0 is no length in calls; documents leave the field out",
};

function listLimits(schema: Schema, path: string): Map<string, unknown> {
  const limits = new Map<string, unknown>(
    LIMITS.flatMap((name) => (isLimit(schema[name]) ? [[`${path} ${name}`, schema[name]] as const] : [])),
  );
  const inner: (readonly [string, Schema])[] = Object.entries(schema.properties ?? {}).map(([name, one]) => [
    `${path}.${name}`,
    one,
  ]);
  if (schema.items) inner.push([`${path}[]`, schema.items]);
  if (typeof schema.additionalProperties === "object") inner.push([`${path}.*`, schema.additionalProperties as Schema]);
  for (const [at, one] of inner) for (const [name, limit] of listLimits(one, at)) limits.set(name, limit);
  return limits;
}

/** zod limits every integer to JavaScript's safe range, which int64 contains. */
function isLimit(value: unknown): boolean {
  return value !== undefined && !(typeof value === "number" && Math.abs(value) === Number.MAX_SAFE_INTEGER);
}

const DEFINITIONS = (customResources() as unknown as Definition[]).map(({ spec }) => ({
  kind: spec.names.kind,
  schema: spec.versions[0].schema.openAPIV3Schema.properties.spec,
}));

function readDocumentSchema(kind: string): Schema {
  const option = DeclarativeDocument.def.options.find((one) => one.def.shape.kind.def.values[0] === kind);
  return jsonSchema(option?.def.shape.spec ?? z.never(), "input") as unknown as Schema;
}

describe.each(DEFINITIONS)("limits of a $kind", ({ kind, schema }) => {
  test("are those of documents, and those that only an API server needs", () => {
    const inCluster = listLimits(schema, kind);
    const own = [...inCluster.keys()].filter((name) => name in SERVER_ALONE);
    expect(own).toEqual(Object.keys(SERVER_ALONE).filter((name) => name.startsWith(`${kind}.`)));
    for (const name of own) inCluster.delete(name);
    expect(Object.fromEntries(inCluster)).toEqual(Object.fromEntries(listLimits(readDocumentSchema(kind), kind)));
  });
});

/** The calls that set what a document describes, by the names of its members. */
const CALLS: readonly {
  readonly kind: ResourceKind;
  readonly input: z.ZodMiniType;
  readonly members: Readonly<Record<string, string>>;
}[] = [
  {
    kind: "Channel",
    input: ChannelInput,
    members: Object.fromEntries(
      Object.entries<ChannelField>(CHANNEL_FIELDS).flatMap(([name, { kind, document }]) =>
        document && ["text", "whole", "decimal"].includes(kind) ? [[document.member, name]] : [],
      ),
    ),
  },
  {
    kind: "Budget",
    input: budgetCreate.body ?? z.never(),
    members: {
      scope: "scope",
      subject: "subject",
      period: "period",
      length: "length",
      filterModel: "filter_model",
      limit: "quota_limit",
      thresholds: "thresholds",
      softPercent: "soft_percent",
    },
  },
  { kind: "Token", input: TokenInput, members: { limits: "limits" } },
];

/** Bounds that the table of fields declares for documents alone. */
const inDocumentsAlone = new Set(
  Object.values<ChannelField>(CHANNEL_FIELDS).flatMap(({ kind, document }) => {
    const least = kind === "text" ? "minLength" : "minimum";
    return document?.least === undefined ? [] : [`Channel.${document.member} ${least}`];
  }),
);

test.each(CALLS)("limits of a $kind in calls are those of its resource", ({ kind, input, members }) => {
  const definition = DEFINITIONS.find((one) => one.kind === kind)?.schema;
  const call = jsonSchema(input, "input") as unknown as Schema;
  const ofResource = new Map<string, unknown>();
  const ofCall = new Map<string, unknown>();
  for (const [member, name] of Object.entries(members)) {
    const [one, other] = [definition?.properties?.[member], call.properties?.[name]];
    expect([one !== undefined, other !== undefined], member).toEqual([true, true]);
    for (const [at, limit] of listLimits(one ?? {}, `${kind}.${member}`)) ofResource.set(at, limit);
    for (const [at, limit] of listLimits(other ?? {}, `${kind}.${member}`)) ofCall.set(at, limit);
  }
  for (const name of [...Object.keys(CALL_ALONE), ...inDocumentsAlone]) {
    ofResource.delete(name);
    ofCall.delete(name);
  }
  expect(ofCall.size).toBeGreaterThan(2);
  expect(Object.fromEntries(ofCall)).toEqual(Object.fromEntries(ofResource));
});
