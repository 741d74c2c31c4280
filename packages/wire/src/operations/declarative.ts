import {
  BUDGET_PERIODS,
  BUDGET_SCOPES,
  budgetFilter,
  budgetThresholds,
  MAX_BUDGET_HOURS,
} from "../core/budget-terms.ts";
import * as z from "zod/mini";
import { channelDocumentFields } from "../channels/channel-shapes.ts";
import { nameUpTo, textUpTo } from "../core/characters.ts";
import { MODEL_NAME_MAX } from "../core/constants.ts";
import { TOKEN_NAME_MAX } from "../accounts/tokens.ts";
import { DISPLAY_NAME_MAX } from "../accounts/users.ts";
import { endpoint } from "../core/endpoint.ts";
import { queryFlag, queryText } from "../core/envelope.ts";
import { FALLBACK_CAUSES, MAX_FALLBACKS, MAX_STICKY_SECONDS } from "../core/fallbacks.ts";
import { LimitsSpec } from "../core/limits.ts";
import { TagLimits } from "../core/tag-limits.ts";
import { TeamSlug } from "../core/team-slug.ts";

export const DECLARATIVE_VERSION = "fairway.dev/v1alpha1";

/** Characters of a network in its longest form. */
const ADDRESS_MAX = 64;
const textMap = z.record(z.string(), z.string());
const text = z.optional(z.string());
const flag = z.optional(z.boolean());

const pathPart = z.string().check(z.regex(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,252}$/));

/** The source of a secret, one of three: a mounted Secret, a file of the same folder, or a variable. */
const source = {
  secretKeyRef: z.optional(z.strictObject({ name: pathPart, key: pathPart })),
  file: z.optional(z.string().check(z.regex(/^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*){0,4}$/))),
  /** The part of the variable's name after `FAIRWAY_SECRET_`. */
  env: z.optional(z.string().check(z.regex(/^[A-Z0-9_]{1,128}$/))),
};
type Sources = z.output<z.ZodMiniObject<typeof source>>;
const hasOneSource = z.refine<Sources>(
  ({ secretKeyRef, file, env }) => [secretKeyRef, file, env].filter((one) => one !== undefined).length === 1,
  "one of secretKeyRef, file and env",
);
export const SecretSource = z.strictObject(source).check(hasOneSource);
export type SecretSource = z.output<typeof SecretSource>;

/** Absent members are managed in the console. */
export const ChannelSpec = z.strictObject({
  /** Name of the provider, such as `openai`. */
  type: z.string(),
  ...channelDocumentFields,
  /** The key itself, resolved by the sender of the document. */
  key: text,
  /**
   * The source of the key if the document does not contain it. If it is missing, the stored key does not change. In a
   * cluster, the Secret must have the label `fairway.dev/readable: "true"`, or the chart must list it.
   */
  credentialsFrom: z.optional(
    // `Split`: one key per line, used in turn.
    z.strictObject({ ...source, keys: z.optional(z.enum(["Single", "Split"])) }).check(hasOneSource),
  ),
  /** Takes over a channel that no document describes, whatever its name. */
  adopt: z.optional(z.strictObject({ channelId: z.int().check(z.minimum(1)) })),
  deletionPolicy: z.optional(z.enum(["Delete", "Disable", "Orphan"])),
});
export type ChannelSpec = z.output<typeof ChannelSpec>;

export const OptionSetSpec = z.strictObject({
  values: z.optional(textMap),
  /** Stored as JSON text. */
  json: z.optional(z.record(z.string(), z.unknown())),
  /** Values of options that contain secrets, such as `SMTPToken`; an option that is shown to users accepts none. */
  valuesFrom: z.optional(z.array(z.strictObject({ option: z.string(), ...source }).check(hasOneSource))),
  /** Priority among sets: if two set the same option, the higher one wins, and among equals the first. 0 by default. */
  priority: z.optional(z.int()),
  /** Options that the set no longer contains return to their defaults instead of staying as they are. */
  prune: flag,
});
export type OptionSetSpec = z.output<typeof OptionSetSpec>;

/** Whose money the calls of a token cost: a user's, or that of the wallet of a team. */
const TokenOwner = z
  .strictObject({
    /** Name of a user. */
    username: text,
    /** Short name of a team. No member holds the key: its keys page shows it to owners and admins. */
    team: z.optional(TeamSlug),
  })
  .check(
    z.refine(({ username, team }) => (username === undefined) !== (team === undefined), "one of username and team"),
  );
export type TokenOwner = z.output<typeof TokenOwner>;

/** Returns the name of an owner: that of a user, or `team:SLUG`, which is no name of a user. */
export function formatTokenOwner({ username = "", team }: TokenOwner): string {
  return team === undefined ? username : `team:${team}`;
}

export const TokenSpec = z.strictObject({
  owner: TokenOwner,
  displayName: z.optional(textUpTo(TOKEN_NAME_MAX)),
  group: text,
  /** RFC 3339; null = never. */
  expiresAt: z.optional(z.nullable(z.string())),
  /**
   * Quota, set when the token is created. Later only its use changes it, unless each apply should refill it to the
   * amount.
   */
  quota: z.optional(
    z.strictObject({
      unlimited: flag,
      amount: z.optional(z.int().check(z.minimum(0))),
      mode: z.optional(z.enum(["InitialOnly", "Maintain"])),
    }),
  ),
  modelLimits: z.optional(z.array(nameUpTo(MODEL_NAME_MAX))),
  allowIps: z.optional(z.array(nameUpTo(ADDRESS_MAX))),
  /** Requests and tokens per minute, and concurrent requests. */
  limits: LimitsSpec,
  /** Limits of calls by the value of a tag, or by the end user; `*` stands for each value that is not named. */
  tagLimits: z.optional(TagLimits),
  /** Models that serve in place of one that cannot; {} = those of the operator. */
  fallbacks: z.optional(
    z
      .strictObject({
        /** True: no model is replaced by another. */
        off: flag,
        /** In order, for all models of the token. */
        models: z.optional(
          z
            .array(
              z.strictObject({
                model: z.string().check(z.minLength(1)),
                on: z.optional(z.array(z.enum(FALLBACK_CAUSES)).check(z.maxLength(FALLBACK_CAUSES.length))),
                /** Seconds for which a conversation that fell back to the model stays with it. */
                stickySeconds: z.optional(z.int().check(z.minimum(0), z.maximum(MAX_STICKY_SECONDS))),
              }),
            )
            .check(z.maxLength(MAX_FALLBACKS)),
        ),
      })
      .check(
        z.refine(
          ({ off, models = [] }) => !(off === true && models.length > 0),
          "off says that no model is replaced, so leave off or models out",
        ),
      ),
  ),
  disabled: flag,
  /** In a cluster: the Secret of the same namespace that the key is written to, as `api-key` unless `key` is set. */
  writeSecretTo: z.optional(
    z.strictObject({
      name: z.string().check(z.regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/)),
      key: z.optional(z.string().check(z.regex(/^[A-Za-z0-9._-]{1,253}$/))),
    }),
  ),
});
export type TokenSpec = z.output<typeof TokenSpec>;

export const BudgetSpec = z.strictObject({
  /** The scope of the limit. */
  scope: z.enum(BUDGET_SCOPES),
  /**
   * Name of the user, group or model; short name of the team, `TEAM:USER` of a member; for a token or channel, the name
   * of its document or its id; id of the service account.
   */
  subject: z.string().check(z.minLength(1), z.maxLength(191)),
  /**
   * `hour`, `day`, `week`, `month`, `quarter` and `year` follow the calendar of `timeZone`. A window of `hours` opens with
   * the first request after the last one ended, and lasts `length` hours. `total` is one window without end.
   */
  period: z.enum(BUDGET_PERIODS),
  /** Hours of a window of the period `hours`, which needs it. */
  length: z.optional(z.int().check(z.minimum(1), z.maximum(MAX_BUDGET_HOURS))),
  /** The first day of a window: `1` (Monday) to `7`, a day of the month, or `MM-DD` for quarters and years. */
  anchor: z.optional(z.string().check(z.maxLength(5))),
  /** RFC 3339: the end of a `total` budget; null = never. */
  endsAt: z.optional(z.nullable(z.string())),
  /** The model whose calls count, or the beginning of names and `*`. It cannot change. */
  filterModel: z.optional(budgetFilter),
  /** Quota units per period. */
  limit: z.int().check(z.minimum(1)),
  /** Time zone that decides when a day begins, such as `Europe/Berlin`. */
  timeZone: text,
  /** Percentages of the limit that are reported, once in each window; by default 80 and 100. */
  thresholds: z.optional(budgetThresholds),
  /** The lowest threshold below 100 percent; 0 = none. Not needed with `thresholds`. */
  softPercent: z.optional(z.int().check(z.minimum(0), z.maximum(100))),
  /** True: an event says when the budget is going to be used up before its window ends. */
  forecast: flag,
  /** True: requests that would exceed the limit are refused. False: notices only. */
  hard: flag,
});
export type BudgetSpec = z.output<typeof BudgetSpec>;

export const UserSpec = z.strictObject({
  /** User name, by default the name of the document. It cannot change. */
  username: text,
  displayName: z.optional(textUpTo(DISPLAY_NAME_MAX).check(z.minLength(1))),
  /** "" = none. */
  email: text,
  group: text,
  /** A role below that of the account that applies the document; documents cannot describe the super administrator. */
  role: z.optional(z.enum(["user", "admin"])),
  /**
   * Quota units that the account starts with, 0 by default. Set once, when the account is created, with its row in the
   * ledger.
   */
  quota: z.optional(z.strictObject({ amount: z.int() })),
  /** Requests and tokens per minute, and concurrent requests. */
  limits: LimitsSpec,
  /** Limits of calls by the value of a tag, or by the end user; `*` stands for each value that is not named. */
  tagLimits: z.optional(TagLimits),
  /** True disables the account. A disabled account can only be enabled by hand. */
  disabled: flag,
  /**
   * The source of a new account's password; later the password belongs to the user. Without it, the user sets one by
   * mail.
   */
  passwordFrom: z.optional(SecretSource),
});
export type UserSpec = z.output<typeof UserSpec>;

const metadata = z.object({ name: z.string().check(z.regex(/^[a-z0-9]([a-z0-9.-]{0,188}[a-z0-9])?$/)) });
const apiVersion = z.literal(DECLARATIVE_VERSION);

export const DeclarativeDocument = z.discriminatedUnion("kind", [
  z.object({ apiVersion, kind: z.literal("Channel"), metadata, spec: ChannelSpec }),
  z.object({ apiVersion, kind: z.literal("OptionSet"), metadata, spec: OptionSetSpec }),
  z.object({ apiVersion, kind: z.literal("Token"), metadata, spec: TokenSpec }),
  z.object({ apiVersion, kind: z.literal("Budget"), metadata, spec: BudgetSpec }),
  z.object({ apiVersion, kind: z.literal("User"), metadata, spec: UserSpec }),
]);
export type DeclarativeDocument = z.output<typeof DeclarativeDocument>;
export type DeclarativeKind = DeclarativeDocument["kind"];
/**
 * Kinds that are also custom resources of a cluster; accounts are not, because not everyone who may write to a
 * namespace may manage them.
 */
export type ResourceKind = Exclude<DeclarativeKind, "User">;

export const FieldChange = z.object({
  field: z.string(),
  /** Values as in the document; secrets are shown as `(changed)`. */
  old: z.optional(z.unknown()),
  new: z.optional(z.unknown()),
});
export type FieldChange = z.output<typeof FieldChange>;

export const DeclarativeChange = z.object({
  kind: z.string(),
  name: z.string(),
  action: z.enum(["create", "update", "delete", "unchanged", "conflict"]),
  fields: z.array(FieldChange),
  /** Reason for a conflict, or the secrets that were not found. */
  message: z.string(),
  /** Id of the row; 0 if there is none yet, or never one (option sets). */
  resource_id: z.int(),
  /**
   * Epoch seconds until which a channel that was enabled or disabled by hand stays so; absent if it follows its
   * document.
   */
  override_until: z.optional(z.int()),
});
export type DeclarativeChange = z.output<typeof DeclarativeChange>;

const DOCUMENTS_BYTES = 16 * 1024 * 1024;

const body = z.strictObject({
  /** The owner of the documents, such as `file:production`. */
  manager: z.string().check(z.minLength(1), z.maxLength(191)),
  documents: z.array(z.unknown()).check(z.maxLength(2000)),
  /** Deletes what this manager owns but the documents no longer describe. */
  prune: flag,
  /** Deletes only these, if this manager owns them and the documents do not describe them. */
  remove: z.optional(z.array(z.strictObject({ kind: z.string(), name: z.string() })).check(z.maxLength(2000))),
  /** Takes over what another manager owns, and allows deleting more than half of one's own resources. */
  force: flag,
});

export const declarativePlan = endpoint({
  name: "declarativePlan",
  method: "POST",
  path: "/api/declarative/plan",
  access: "root",
  summary: "What applying the documents would change, field by field.",
  body,
  bodyBytes: DOCUMENTS_BYTES,
  data: z.array(DeclarativeChange),
  fails: ["invalid_parameter", "invalid_field", "document_invalid", "mass_deletion_refused"],
});

export const declarativeApply = endpoint({
  name: "declarativeApply",
  method: "POST",
  path: "/api/declarative/apply",
  access: "root",
  summary:
    "Makes it as the documents say, all in one transaction, and keeps the fields that they name; conflicts stay as they are.",
  body,
  bodyBytes: DOCUMENTS_BYTES,
  data: z.array(DeclarativeChange),
  fails: ["invalid_parameter", "invalid_field", "document_invalid", "mass_deletion_refused"],
});

export const declarativeExport = endpoint({
  name: "declarativeExport",
  method: "GET",
  path: "/api/declarative/export",
  access: "root",
  summary: "What is here as documents, with names of variables in the place of secrets; `kind` narrows it.",
  query: z.object({
    kind: queryText,
    /** Adds the id of each row as the annotation `fairway.dev/id`. */
    ids: queryFlag,
  }),
  data: z.array(
    z.object({
      apiVersion: z.string(),
      kind: z.string(),
      metadata: z.object({ name: z.string(), annotations: z.optional(z.record(z.string(), z.string())) }),
      spec: z.record(z.string(), z.unknown()),
    }),
  ),
});
