import { ACCOUNT_KIND, INITIAL_TOKEN, keyHint, TOKEN_STATUS, type Token } from "@fairway/wire";
import type { Transaction, Updateable } from "kysely";
import { recordTokenEvent, type EventToken } from "../../events/token-event.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { CheckTag } from "../../http/etag.ts";
import type { Database } from "../../storage/database.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { insertRow } from "../../storage/inserts.ts";
import { containing, likeAnyCase } from "../../storage/like.ts";
import { bump, noteLimitChange } from "../../storage/revisions.ts";
import type { TokenTable } from "../../storage/tables/schema-accounts.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { lockUser, rawOn, transact } from "../../storage/transaction.ts";
import type { Announce, Vault } from "../ports.ts";
import { checkSwitch, type SwitchedBy, type TokenFields } from "./input.ts";
import { planRotation } from "./plan-rotation.ts";
import { tokenKey } from "../../storage/secrets/sealed-locations.ts";
import { COLUMNS, countTokens, findTokenRow, selectOwnRows, tokenTag, toToken, type TokenRow } from "./token-rows.ts";
import { storeKey } from "../../storage/secrets/store-key.ts";
import { createTokenKey } from "../../storage/secrets/token-key-text.ts";

export interface TokenStoreDeps {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly announce: Announce;
  /** The relay's copies of tokens. */
  readonly tokens: { dropToken(tokenId: number): void };
}

export interface TokenQuery {
  readonly userId: number;
  /** Only tokens that this member of a team made. */
  readonly memberId?: number | undefined;
  readonly keyword: string;
  /** Part of a key, without `sk-`. */
  readonly keyPart: string;
  readonly status: readonly number[];
  readonly group: string;
  /** Only tokens that expire within this many seconds; 0 = all. */
  readonly expiringWithin: number;
  readonly sort: string;
  readonly order: string;
  readonly offset: number;
  readonly limit: number;
}

export interface TokenUpdate {
  readonly check?: CheckTag | undefined;
  /** Computes the remaining quota from the current one; throws to refuse. */
  readonly remainFrom?: ((remain: number) => number) | undefined;
  /** Default: the owner. */
  readonly by?: SwitchedBy | undefined;
  /** Throws to refuse the current row. */
  readonly accept?: ((row: TokenRow) => void) | undefined;
}

/** Fields of a new token; a token of a team has a holder. */
export type NewTokenFields = TokenFields & Partial<Pick<TokenRow, "member_id" | "service_account_id">>;

/** Throws to refuse a new token; gets the number of the owner's tokens, with the owner locked. */
export type CheckCount = (count: number, trx: Transaction<Schema>) => unknown;

/** Writes what belongs to a new token, in its transaction. */
export type WriteAlso = (tokenId: number, tx: RawTransaction) => Promise<unknown>;

export interface TokenSwitch {
  readonly status: number;
  readonly by: SwitchedBy;
}

export interface TokenPage {
  readonly rows: Token[];
  readonly total: number;
}

/** The owner of a token. */
export interface TokenOwner {
  readonly id: number;
  readonly username: string;
  readonly role: number;
}

export type TokenStore = ReturnType<typeof createTokenStore>;

const SORTABLE = [
  "id",
  "name",
  "status",
  "group",
  "created_time",
  "accessed_time",
  "expired_time",
  "remain_quota",
  "used_quota",
] as const;
/** What a new row has by default; its key is sealed when its id is known. */
const INITIAL = {
  ...INITIAL_TOKEN,
  key_sealed: "",
  status: 1,
  used_quota: 0,
  disabled_by_admin: 0,
  member_id: 0,
  service_account_id: 0,
  rotated_at: 0,
  old_keys_until: 0,
  deleted_at: null,
} as const;

/**
 * Creates the SQL of tokens. Every function except `findOwner` and `findId` is restricted to one owner; a write drops the relay's
 * copy on all replicas.
 */
export function createTokenStore(deps: TokenStoreDeps) {
  return { ...reads(deps), ...writes(deps), ...removals(deps) };
}

function reads({ database: { db }, vault, clock }: TokenStoreDeps) {
  const owners = db.selectFrom("users").select(["id", "username", "role"]).where("deleted_at", "is", null);
  const selectOwnTokens = (query: TokenQuery) => {
    let rows = db.selectFrom("tokens").where("user_id", "=", query.userId).where("deleted_at", "is", null);
    if (query.memberId !== undefined)
      rows = rows.where("member_id", "=", query.memberId).where("service_account_id", "=", 0);
    if (query.keyword !== "") rows = rows.where(likeAnyCase("name", containing(query.keyword)));
    if (query.status.length > 0) rows = rows.where("status", "in", query.status);
    if (query.group !== "") rows = rows.where("group", "=", query.group);
    if (query.expiringWithin > 0) {
      const now = seconds(clock);
      rows = rows.where("expired_time", ">", now).where("expired_time", "<=", now + query.expiringWithin);
    }
    return rows;
  };

  const ordered = (query: TokenQuery) => {
    const column = SORTABLE.find((name) => name === query.sort) ?? "id";
    const direction = query.order === "asc" ? "asc" : "desc";
    const rows = selectOwnTokens(query).select(COLUMNS).orderBy(column, direction);
    return column === "id" ? rows : rows.orderBy("id", "desc");
  };
  const view = (row: TokenRow): Token => toToken(row, vault.open(row.key_sealed, tokenKey(row.id)));
  /** Keys are sealed, so a part of one is searched in the owner's opened keys; an owner has few. */
  const pageByKey = async (query: TokenQuery): Promise<TokenPage> => {
    const all = (await ordered(query).execute()).map(view).filter((token) => token.key.includes(query.keyPart));
    return { rows: all.slice(query.offset, query.offset + query.limit), total: all.length };
  };

  return {
    async page(query: TokenQuery): Promise<TokenPage> {
      if (query.keyPart !== "") return pageByKey(query);
      const rows = await ordered(query).offset(query.offset).limit(query.limit).execute();
      const { total } = await selectOwnTokens(query)
        .select((eb) => eb.fn.countAll<number>().as("total"))
        .executeTakeFirstOrThrow();
      return { rows: rows.map(view), total: Number(total) };
    },

    async get(userId: number, id: number): Promise<Token | undefined> {
      const row = await findTokenRow(db, userId, id);
      return row && view(row);
    },

    /** Returns a user with an account; undefined for a deleted one, as in `findOwner`. */
    owner: (userId: number): Promise<TokenOwner | undefined> =>
      owners.where("id", "=", userId).where("kind", "=", ACCOUNT_KIND.person).executeTakeFirst(),

    findOwner: (id: number): Promise<TokenOwner | undefined> => {
      const token = db.selectFrom("tokens").select("user_id").where("id", "=", id).where("deleted_at", "is", null);
      return owners.where("id", "=", token).executeTakeFirst();
    },

    /**
     * Returns the id of the token of a key, of any owner, also of a key that was replaced; `forms` are the texts whose
     * hash may be stored.
     */
    findId: async (forms: readonly string[]): Promise<number | undefined> => {
      const hashes = forms.map((form) => vault.hashKey(form));
      const rows = db.selectFrom("tokens").select("id").where("key_hash", "in", hashes).where("deleted_at", "is", null);
      const current = await rows.executeTakeFirst();
      if (current) return current.id;
      const old = db.selectFrom("token_keys").select("token_id").where("key_hash", "in", hashes);
      return (await old.executeTakeFirst())?.token_id;
    },

    count: (userId: number): Promise<number> => countTokens(db, userId),

    /** Returns keys in clear by id; ids of other owners are skipped. */
    async keys(userId: number, ids: readonly number[]): Promise<Record<string, string>> {
      const rows = await selectOwnRows(db, userId, ids).select(["id", "key_sealed"]).orderBy("id").execute();
      return Object.fromEntries(rows.map((row) => [String(row.id), vault.open(row.key_sealed, tokenKey(row.id))]));
    },
  };
}

function writes({ database: { db, kind }, vault, clock, announce, tokens }: TokenStoreDeps) {
  /** Changes one token of its owner; returns the new row, or undefined if there is none. */
  const change = async (
    userId: number,
    id: number,
    values: Updateable<TokenTable>,
    { check, remainFrom, accept, by = "owner" }: TokenUpdate = {},
  ): Promise<Token | undefined> => {
    const row = await transact(db, async (trx) => {
      // The row is locked between the read and the write.
      if (check || remainFrom || accept)
        await rawOn(trx, kind).run("update tokens set status = status where id = ?", [id]);
      const current = await findTokenRow(trx, userId, id);
      if (!current) return undefined;
      check?.(tokenTag(toToken(current, "")));
      accept?.(current);
      const left = remainFrom ? { remain_quota: remainFrom(current.remain_quota) } : {};
      const moved = planRotation({ ...values, ...left }, current);
      await trx.updateTable("tokens").set(moved).where("id", "=", id).execute();
      await countChange(rawOn(trx, kind), kind, { id, values: moved });
      if (isSwitchedOff(current.status, moved.status)) await recordDisable(trx, current, { atMs: clock.now(), by });
      return findTokenRow(trx, userId, id, true);
    });
    if (!row) return undefined;
    tokens.dropToken(id);
    await announce("tokens");
    return toToken(row, vault.open(row.key_sealed, tokenKey(row.id)));
  };

  return {
    async create(userId: number, fields: NewTokenFields, checkCount?: CheckCount, writeAlso?: WriteAlso) {
      const key = createTokenKey();
      const now = seconds(clock);
      const times = { created_time: now, accessed_time: now };
      const identity = { user_id: userId, key_hash: vault.hashKey(key), key_hint: keyHint(key) };
      const row = planRotation({ ...INITIAL, ...fields, ...identity, ...times }, { ...INITIAL, ...times });
      const id = await transact(db, async (trx) => {
        // Deleting an account also deletes its tokens.
        if (!(await lockUser(trx, userId))) throw new Refusal("account_deleted");
        await checkCount?.(await countTokens(trx, userId), trx);
        const made = await insertRow(trx, "tokens", row);
        await storeKey(trx, "tokens", made, vault.seal(key, tokenKey(made)));
        await writeAlso?.(made, rawOn(trx, kind));
        await recordCreation(trx, { ...row, id: made }, now);
        return made;
      });
      return toToken({ ...row, id }, key);
    },

    update: (userId: number, id: number, fields: Partial<TokenFields>, update?: TokenUpdate) =>
      change(userId, id, fields, update),
    /** Throws `token_disabled_by_admin` if the owner enables a token that an administrator disabled. */
    setStatus(userId: number, id: number, { status, by }: TokenSwitch, update: Pick<TokenUpdate, "check"> = {}) {
      const isOff = status === TOKEN_STATUS.disabled;
      const values = by === "admin" ? { status, disabled_by_admin: Number(isOff) } : { status };
      return change(userId, id, values, {
        ...update,
        by,
        accept: (row) => checkSwitch(row.disabled_by_admin !== 0, by, status),
      });
    },
    /** The row stays, so that logs retain their reference and the key is never assigned again. */
    remove: (userId: number, id: number) => change(userId, id, { deleted_at: seconds(clock) }),
  };
}

function isSwitchedOff(before: number, after: unknown): boolean {
  return before === TOKEN_STATUS.enabled && after === TOKEN_STATUS.disabled;
}

function recordDisable(
  trx: Transaction<Schema>,
  row: TokenRow,
  { atMs, by }: { readonly atMs: number; readonly by: SwitchedBy },
): Promise<void> {
  return recordTokenEvent(trx, row, { type: "token.disabled", atMs, about: atMs, data: { by } });
}

function recordCreation(
  trx: Transaction<Schema>,
  row: EventToken & { readonly key_hash: string; readonly key_hint: string },
  nowSeconds: number,
): Promise<void> {
  const { key_hash: about, key_hint: hint } = row;
  return recordTokenEvent(trx, row, { type: "token.created", atMs: nowSeconds * 1000, about, data: { hint } });
}

async function countChange(
  tx: RawTransaction,
  kind: Database["kind"],
  { id, values }: { readonly id: number; readonly values: Updateable<TokenTable> },
): Promise<void> {
  await bump(tx, kind, "tokens");
  if (values.remain_quota !== undefined || values.unlimited_quota !== undefined) await noteLimitChange(tx, id);
}

/** Removes the tokens with these ids that belong to the owner; returns their number. */
function removals({ database: { db, kind }, clock, announce, tokens }: TokenStoreDeps) {
  return {
    async removeAll(userId: number, ids: readonly number[]): Promise<number> {
      const removed = await transact(db, async (trx) => {
        const found = selectOwnRows(trx, userId, ids).select("id").orderBy("id");
        // If two calls run at once, the second waits here and then finds what the first has left. The tokens come
        // before their revision, as in every change of one token: with two orders, a deadlock would be possible.
        const owned = (await (kind === "sqlite" ? found : found.forUpdate()).execute()).map(({ id }) => id);
        if (owned.length === 0) return owned;
        const change = trx.updateTable("tokens").set({ deleted_at: seconds(clock) });
        await change.where("id", "in", owned).execute();
        await bump(rawOn(trx, kind), kind, "tokens");
        return owned;
      });
      for (const id of removed) tokens.dropToken(id);
      if (removed.length > 0) await announce("tokens");
      return removed.length;
    },
  };
}
