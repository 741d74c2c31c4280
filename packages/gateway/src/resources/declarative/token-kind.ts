import {
  ACCOUNT_KIND,
  formatTokenOwner,
  listTokenFields,
  NEVER_EXPIRES,
  readTokenFallbacks,
  splitList,
  TOKEN_FIELDS,
  TOKEN_STATUS,
  type Token,
  type TokenInput,
  type TokenOwner,
  type TokenSpec,
} from "@fairway/wire";
import { usernameKey } from "../../identity/accounts/accounts.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Database } from "../../storage/database.ts";
import { lockRows } from "../../storage/transaction.ts";
import { tokenFields } from "../tokens/input.ts";
import type { TokenStore } from "../tokens/store.ts";
import { checkLife } from "../teams/key-rules.ts";
import { exportedNames, type Current, type ExportedRow, type Fields, type Kind } from "./kinds.ts";
import { blameDocument } from "./read-document.ts";
import { describeOwner, explainMissingOwner, findTokenOwner, keyOfTokenOwner, type FoundOwner } from "./token-owner.ts";

export interface TokenKindDeps {
  readonly database: Database;
  readonly tokens: TokenStore;
  readonly clock: Clock;
}

const DOCUMENTED = listTokenFields("document");

/** Members of a token's form, by their names in documents. */
export const TOKEN_MEMBERS: Readonly<Record<string, string>> = Object.fromEntries(
  DOCUMENTED.map((name) => [TOKEN_FIELDS[name].document, name]),
);

/** Creates the document kind of keys for models; the key itself is generated here and shown to its owner. */
export function tokenKind(deps: TokenKindDeps): Kind<TokenSpec> {
  const { tokens } = deps;
  return {
    kind: "Token",
    secrets: new Set(),
    async desired(name, spec, users) {
      const owner = users.has(keyOfTokenOwner(spec.owner)) ? undefined : await requireOwner(deps, name, spec);
      checkSpec(name, spec, (expiry) => owner?.team && checkLife(owner.team, expiry, seconds(deps.clock)));
      const { quota, writeSecretTo: _place, fallbacks, ...rest } = spec;
      // Causes that the document leaves out are those that the row has by default.
      const listed = fallbacks && { fallbacks: toFallbacksSpec(toFallbacksText(fallbacks)) };
      // The first amount is spent over time, so it is not a state that could differ.
      return {
        ...rest,
        ...listed,
        owner: formatTokenOwner(spec.owner),
        ...(quota?.mode === "Maintain" && { quota: toQuotaGrant(quota) }),
      };
    },
    async find(name, spec, ownedId) {
      const owner = await findTokenOwner(deps.database.db, spec.owner);
      // The same documents create the owner.
      if (!owner) return undefined;
      const id = ownedId ?? (await findTokenByName(deps, owner.id, spec.displayName ?? name));
      const row = id === undefined ? undefined : await findToken(deps, id);
      return row && toCurrent(row, spec);
    },
    refusal: ({ fields }, { owner }) => (sameName(fields["owner"], owner) ? "" : "a token keeps its owner"),
    lacks: () => "",
    lock: (ids, created) => lockTokens(deps, ids, created),
    async create(name, spec) {
      const { id: userId } = await requireOwner(deps, name, spec);
      const { id } = await tokens.create(
        userId,
        tokenFields(toTokenInput(name, spec), () => true),
      );
      if (spec.disabled) await tokens.setStatus(userId, id, { status: TOKEN_STATUS.disabled, by: "admin" });
      return id;
    },
    async update({ id }: Current, spec, changed) {
      const row = await findToken(deps, id);
      if (!row) return;
      const { token } = row;
      const isFilled = changed.includes("quota");
      const { remain_quota, unlimited_quota, ...rest } = tokenFields(
        { ...token, ...toTokenInput(token.name, spec) },
        () => true,
      );
      await tokens.update(token.user_id, id, isFilled ? { ...rest, remain_quota, unlimited_quota } : rest);
      const isExhausted = isFilled && token.status === TOKEN_STATUS.exhausted;
      if (!changed.includes("disabled") && !isExhausted) return;
      const status = spec.disabled ? TOKEN_STATUS.disabled : TOKEN_STATUS.enabled;
      await tokens.setStatus(token.user_id, id, { status, by: "admin" });
    },
    async remove({ resource_id: id }) {
      const row = await findToken(deps, id);
      if (row) await tokens.remove(row.token.user_id, id);
    },
    export: () => exported(deps),
  };
}

/** Throws what a token form would refuse, as a fault of the document. */
function checkSpec(name: string, spec: TokenSpec, checkExpiry: (expiry: number) => unknown): void {
  try {
    checkExpiry(tokenFields(toTokenInput(name, spec), () => true).expired_time);
  } catch (cause) {
    throw blameDocument(name, cause);
  }
}

/** Returns undefined if the token no longer exists. */
export async function findTokenKey(deps: TokenKindDeps, id: number): Promise<string | undefined> {
  const row = await findToken(deps, id);
  return row && `sk-${row.token.key}`;
}

/** Locks tokens in the same order as the booking of usage. */
async function lockTokens(
  { database: { db, raw, kind } }: TokenKindDeps,
  ids: readonly number[],
  created: readonly TokenSpec[],
): Promise<void> {
  const owners = new Set(created.map(({ owner }) => keyOfTokenOwner(owner)));
  if (owners.size > 0) {
    const users = await db
      .selectFrom("users")
      .select("id")
      .where("username_key", "in", [...owners])
      .execute();
    await lockRows(
      raw,
      kind,
      "users",
      users.map(({ id }) => id),
    );
  }
  await lockRows(raw, kind, "tokens", ids);
}

async function exported(deps: TokenKindDeps): Promise<ExportedRow[]> {
  const rows = await deps.database.db
    .selectFrom("tokens as t")
    .innerJoin("users as u", "u.id", "t.user_id")
    .leftJoin("teams as w", "w.account_id", "u.id")
    .select(["t.id", "t.name"])
    .where("t.deleted_at", "is", null)
    .where("w.deleted_at", "is", null)
    // Documents describe keys of persons and of teams, but not those that a member or a service account holds.
    .where((eb) =>
      eb.or([
        eb("u.kind", "=", ACCOUNT_KIND.person),
        eb.and([eb("t.member_id", "=", 0), eb("t.service_account_id", "=", 0)]),
      ]),
    )
    .orderBy("t.id")
    .execute();
  const documents: ExportedRow[] = [];
  for (const [id, name] of exportedNames(rows)) {
    const row = await findToken(deps, id);
    if (!row) continue;
    const { owner: _owner, ...fields } = toFields(row.token, "");
    // The quota is granted when the token is created; for an existing token, its usage decides.
    const quota = { unlimited: row.token.unlimited_quota, amount: Math.max(0, row.token.remain_quota) };
    documents.push({ id, name, spec: { ...fields, quota, owner: row.owner } });
  }
  return documents;
}

function toQuotaGrant({ unlimited = false, amount = 0 }: NonNullable<TokenSpec["quota"]>) {
  return { unlimited, amount };
}

/** Returns the quota to compare. More than the grant is not a difference: tokens are topped up, never reduced. */
function calculateQuotaLeft({ remain_quota, unlimited_quota }: Token, { quota = {} }: TokenSpec) {
  return { unlimited: unlimited_quota, amount: Math.min(remain_quota, quota.amount ?? 0) };
}

async function requireOwner({ database }: TokenKindDeps, name: string, { owner }: TokenSpec): Promise<FoundOwner> {
  const found = await findTokenOwner(database.db, owner);
  if (found) return found;
  throw new Refusal("document_invalid", { values: { name, reason: explainMissingOwner(owner) } });
}

async function findTokenByName({ database }: TokenKindDeps, userId: number, name: string): Promise<number | undefined> {
  const rows = await database.db
    .selectFrom("tokens as t")
    .leftJoin("managed_resources as m", (join) => join.onRef("m.resource_id", "=", "t.id").on("m.kind", "=", "Token"))
    .select("t.id")
    .where("t.user_id", "=", userId)
    .where("t.name", "=", name)
    .where("t.deleted_at", "is", null)
    .where("m.name", "is", null)
    .limit(2)
    .execute();
  return rows.length === 1 ? rows[0]?.id : undefined;
}

interface Found {
  readonly token: Token;
  readonly owner: TokenOwner;
}

async function findToken({ database, tokens }: TokenKindDeps, id: number): Promise<Found | undefined> {
  const row = await database.db
    .selectFrom("tokens as t")
    .innerJoin("users as u", "u.id", "t.user_id")
    .select(["t.user_id", "u.kind", "u.username", "u.username_key"])
    .where("t.id", "=", id)
    .executeTakeFirst();
  const token = row && (await tokens.get(row.user_id, id));
  return token && { token, owner: describeOwner(row) };
}

function toTokenInput(name: string, spec: TokenSpec): TokenInput {
  const { quota = {}, modelLimits } = spec;
  const members = DOCUMENTED.map((column) => {
    const { kind, document } = TOKEN_FIELDS[column];
    const value: unknown = spec[document];
    return [column, value === undefined ? undefined : CONVERSIONS[kind].toInput(value, name)] as const;
  });
  return {
    ...Object.fromEntries(members.filter(([, value]) => value !== undefined)),
    name: spec.displayName ?? name,
    remain_quota: quota.amount ?? 0,
    unlimited_quota: quota.unlimited ?? false,
    ...(modelLimits && { model_limits_enabled: modelLimits.length > 0 }),
  };
}

interface Conversion {
  /** Converts the value of a document; throws `document_invalid` with the name of the document. */
  toInput(value: unknown, name: string): unknown;
  /** Converts the value of an answer. */
  toMember(shown: unknown): unknown;
}

const AS_IT_IS: Conversion = { toInput: (value) => value, toMember: (shown) => shown };

const CONVERSIONS: Readonly<Record<(typeof TOKEN_FIELDS)[(typeof DOCUMENTED)[number]]["kind"], Conversion>> = {
  text: AS_IT_IS,
  limits: AS_IT_IS,
  tag_limits: AS_IT_IS,
  time: {
    toInput: (time, name) => parseExpiry(name, time as string | null),
    toMember: (seconds) => formatExpiry(seconds as number),
  },
  list: {
    toInput: (items) => (items as readonly string[]).join(","),
    toMember: (text) => splitList(text as string),
  },
  lines: {
    toInput: (items) => (items as readonly string[]).join("\n"),
    toMember: (text) => (text as string).split("\n").filter((line) => line !== ""),
  },
  fallbacks: {
    toInput: (spec) => toFallbacksText(spec as FallbacksSpec),
    toMember: (text) => toFallbacksSpec(text as string),
  },
};

type FallbacksSpec = NonNullable<TokenSpec["fallbacks"]>;

/** An empty object leaves the choice to the operator. */
function toFallbacksText({ off = false, models = [] }: FallbacksSpec): string {
  if (off) return "off";
  if (models.length === 0) return "inherit";
  return JSON.stringify(models.map(({ stickySeconds, ...entry }) => ({ ...entry, sticky_seconds: stickySeconds })));
}

function toFallbacksSpec(text: string): FallbacksSpec {
  const read = readTokenFallbacks(text);
  if ("fault" in read || read.value === "off") return { off: true };
  if (read.value === "inherit") return {};
  const models = read.value.map(({ model, on, sticky_seconds: stickySeconds }) => ({
    model,
    on: [...on],
    ...(stickySeconds !== undefined && { stickySeconds }),
  }));
  return { models };
}

function parseExpiry(name: string, text: string | null): number {
  return text === null ? NEVER_EXPIRES : parseSeconds(name, text);
}

function parseSeconds(name: string, text: string): number {
  const time = Date.parse(text);
  if (Number.isFinite(time)) return Math.floor(time / 1000);
  throw new Refusal("document_invalid", { values: { name, reason: "expiresAt is no time" } });
}

function toFields(token: Token, owner: string): Fields {
  const members = DOCUMENTED.map((column) => {
    const { kind, document } = TOKEN_FIELDS[column];
    return [document, CONVERSIONS[kind].toMember(token[column])] as const;
  });
  return {
    owner,
    ...Object.fromEntries(members),
    ...(!token.model_limits_enabled && { modelLimits: [] }),
    disabled: token.status === TOKEN_STATUS.disabled,
  };
}

/** Returns the token in the form in which a document is compared. */
function toCurrent({ token, owner: found }: Found, spec: TokenSpec): Current {
  const [current, written] = [formatTokenOwner(found), formatTokenOwner(spec.owner)];
  // Names that look alike are the same user.
  const owner = sameName(current, written) ? written : current;
  const fields = { ...toFields(token, owner), quota: calculateQuotaLeft(token, spec) };
  // If the owner disabled it, the owner could enable it again.
  const isHeld = token.status === TOKEN_STATUS.disabled && token.disabled_by_admin;
  return { id: token.id, fields: spec.disabled ? { ...fields, disabled: isHeld } : fields };
}

/** Returns null also for a time that no calendar can represent: owners may set any number of seconds. */
function formatExpiry(seconds: number): string | null {
  const time = new Date(seconds * 1000);
  const isNever = seconds === NEVER_EXPIRES || Number.isNaN(time.getTime());
  return isNever ? null : time.toISOString().replace(".000Z", "Z");
}

function sameName(a: unknown, b: unknown): boolean {
  return typeof a === "string" && typeof b === "string" && usernameKey(a) === usernameKey(b);
}
