import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { queryText } from "./envelope.ts";
import { LimitsSpec } from "./limits.ts";

export const DECLARATIVE_VERSION = "fairway.dev/v1alpha1";

const texts = z.array(z.string());
const textMap = z.record(z.string(), z.string());
const text = z.optional(z.string());
const flag = z.optional(z.boolean());

/** Members that are left out belong to the console. */
export const ChannelSpec = z.strictObject({
  /** Name of the provider, such as `openai`. */
  type: z.string(),
  displayName: z.optional(z.string().check(z.minLength(1), z.maxLength(64))),
  baseUrl: text,
  models: z.optional(texts.check(z.minLength(1), z.maxLength(512))),
  groups: z.optional(texts),
  priority: z.optional(z.int().check(z.minimum(-999))),
  weight: z.optional(z.int().check(z.minimum(0))),
  enabled: flag,
  autoBan: flag,
  testModel: text,
  openaiOrganization: text,
  tag: text,
  other: text,
  modelMapping: z.optional(textMap),
  statusCodeMapping: z.optional(textMap),
  /** The key itself; whoever sends the document has looked it up. */
  key: text,
  deletionPolicy: z.optional(z.enum(["Delete", "Disable", "Orphan"])),
});
export type ChannelSpec = z.output<typeof ChannelSpec>;

export const OptionSetSpec = z.strictObject({
  values: z.optional(textMap),
  /** Stored as JSON text. */
  json: z.optional(z.record(z.string(), z.unknown())),
});
export type OptionSetSpec = z.output<typeof OptionSetSpec>;

export const TokenSpec = z.strictObject({
  owner: z.strictObject({ username: z.string() }),
  displayName: z.optional(z.string().check(z.maxLength(30))),
  group: text,
  /** RFC 3339; null = never. */
  expiresAt: z.optional(z.nullable(z.string())),
  /** Set when the token is made; later changes belong to its use. */
  quota: z.optional(z.strictObject({ unlimited: flag, amount: z.optional(z.int().check(z.minimum(0))) })),
  modelLimits: z.optional(texts),
  allowIps: z.optional(texts),
  /** Requests and tokens per minute, requests at once. */
  limits: LimitsSpec,
  disabled: flag,
});
export type TokenSpec = z.output<typeof TokenSpec>;

const metadata = z.object({ name: z.string().check(z.regex(/^[a-z0-9]([a-z0-9.-]{0,188}[a-z0-9])?$/)) });
const apiVersion = z.literal(DECLARATIVE_VERSION);

export const DeclarativeDocument = z.discriminatedUnion("kind", [
  z.object({ apiVersion, kind: z.literal("Channel"), metadata, spec: ChannelSpec }),
  z.object({ apiVersion, kind: z.literal("OptionSet"), metadata, spec: OptionSetSpec }),
  z.object({ apiVersion, kind: z.literal("Token"), metadata, spec: TokenSpec }),
]);
export type DeclarativeDocument = z.output<typeof DeclarativeDocument>;
export type DeclarativeKind = DeclarativeDocument["kind"];

export const FieldChange = z.object({
  field: z.string(),
  /** Values as in the document; secrets are told as `(changed)`. */
  old: z.optional(z.unknown()),
  new: z.optional(z.unknown()),
});
export type FieldChange = z.output<typeof FieldChange>;

export const DeclarativeChange = z.object({
  kind: z.string(),
  name: z.string(),
  action: z.enum(["create", "update", "delete", "unchanged", "conflict"]),
  fields: z.array(FieldChange),
  /** Why there is a conflict. */
  message: z.string(),
  /** 0 where there is no row of its own (option sets) or none yet. */
  resource_id: z.int(),
});
export type DeclarativeChange = z.output<typeof DeclarativeChange>;

const body = z.object({
  /** Who owns the documents, such as `file:production`. */
  manager: z.string().check(z.minLength(1), z.maxLength(191)),
  documents: z.array(z.unknown()).check(z.maxLength(2000)),
  /** Deletes what this manager owns and the documents no longer name. */
  prune: flag,
  /** Takes over what another manager owns, and deletes more than half of the own. */
  force: flag,
});

export const declarativePlan = endpoint({
  name: "declarativePlan",
  method: "POST",
  path: "/api/declarative/plan",
  access: "root",
  summary: "What applying the documents would change, field by field.",
  body,
  data: z.array(DeclarativeChange),
  fails: ["G1", "G2", "M2", "M3"],
});

export const declarativeApply = endpoint({
  name: "declarativeApply",
  method: "POST",
  path: "/api/declarative/apply",
  access: "root",
  summary: "Makes it as the documents say and keeps the fields that they name; conflicts stay as they are.",
  body,
  data: z.array(DeclarativeChange),
  fails: ["G1", "G2", "M2", "M3"],
});

export const declarativeExport = endpoint({
  name: "declarativeExport",
  method: "GET",
  path: "/api/declarative/export",
  access: "root",
  summary: "What is here as documents, without keys and other secrets; `kind` narrows it.",
  query: z.object({ kind: queryText }),
  data: z.array(
    z.object({
      apiVersion: z.string(),
      kind: z.string(),
      metadata: z.object({ name: z.string() }),
      spec: z.record(z.string(), z.unknown()),
    }),
  ),
});

export const declarativeManaged = endpoint({
  name: "declarativeManaged",
  method: "GET",
  path: "/api/declarative/managed",
  access: "admin",
  summary: "What documents own, so that screens can show it locked.",
  data: z.array(
    z.object({
      kind: z.string(),
      name: z.string(),
      resource_id: z.int(),
      owner: z.string(),
      fields: z.array(z.string()),
    }),
  ),
});
