import { ACCESS_TOKENS_MAX, ACCOUNT_KIND, SERVICE_TOKEN_PREFIX, type AccessScope } from "@fairway/wire";
import type { Insertable, Kysely, Transaction, Updateable } from "kysely";
import { seconds, type Clock } from "../../lib/clock.ts";
import { randomText } from "../../lib/ids.ts";
import { Refusal } from "../../lib/refusal.ts";
import { isDuplicate } from "../../storage/errors.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { lockUser, transact } from "../../storage/transaction.ts";
import type { Account, CallerToken } from "../principal.ts";
import { toAccount, hashRandomId } from "../sessions/sessions.ts";
import { findServiceToken } from "./service-token.ts";

const TOKEN_CHARS = 32;
/** The time of last use has a resolution of one minute, because a write per call would cost more than the call. */
const USED_EVERY_SECONDS = 60;

type Db = Kysely<Schema>;

export interface AccessTokenView {
  readonly name: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  /** 0 = never. */
  readonly expiresAt: number;
  /** Empty = no permissions. */
  readonly scopes: readonly string[];
}

export interface NewAccessToken {
  /** "" = the token of `GET /api/user/token`. */
  readonly name?: string;
  /** 0 = never. */
  readonly expiresAt?: number;
  readonly scopes: readonly AccessScope[];
}

/** Writes what belongs to a new token, in its transaction. */
type WriteAlso = (trx: Transaction<Schema>) => Promise<unknown>;

/** Keys for the management API with all or some of the rights of their user. Only hashes are stored. */
export interface AccessTokens {
  /** Finds a token; undefined if it is unknown or expired. `account` is undefined if its user was deleted. */
  find(token: string): Promise<{ readonly account: Account | undefined; readonly token: CallerToken } | undefined>;
  /** Replaces the user's token of that name and returns the new one; throws `too_many_access_tokens`. */
  rotate(userId: number, made: NewAccessToken, also?: WriteAlso): Promise<string>;
  remove(userId: number, name: string): Promise<boolean>;
  removeAll(userId: number, db?: Db): Promise<void>;
  list(userId: number): Promise<AccessTokenView[]>;
}

export function createAccessTokens({ db, clock }: { readonly db: Db; readonly clock: Clock }): AccessTokens {
  return {
    async find(token) {
      const now = seconds(clock);
      if (token.startsWith(SERVICE_TOKEN_PREFIX)) return findServiceToken(db, token, now);
      const row = await selectByHash(db, hashRandomId(token));
      if (!row || (row.expires_at !== 0 && row.expires_at <= now)) return undefined;
      if (now - row.last_used_at >= USED_EVERY_SECONDS) {
        await db.updateTable("access_tokens").set({ last_used_at: now }).where("id", "=", row.id).execute();
      }
      return { account: toAccount(row), token: { name: row.name, scopes: parseScopes(row.scopes) } };
    },
    async rotate(userId, { name = "", expiresAt = 0, scopes }, also) {
      const token = randomText(TOKEN_CHARS);
      const limits = { expires_at: expiresAt, scopes: scopes.join(" ") };
      const change = { token_hash: hashRandomId(token), created_at: seconds(clock), last_used_at: 0, ...limits };
      const replaceRow = () =>
        transact(db, async (trx) => {
          const isReplaced = await replace(trx, userId, name, change);
          if (isReplaced) await also?.(trx);
          return isReplaced;
        });
      if (await replaceRow()) return token;
      try {
        await insert(db, { user_id: userId, name, ...change }, also);
      } catch (cause) {
        // Another call created the row in between.
        if (!isDuplicate(cause) || !(await replaceRow())) throw cause;
      }
      return token;
    },
    async remove(userId, name) {
      const answer = await db
        .deleteFrom("access_tokens")
        .where("user_id", "=", userId)
        .where("name", "=", name)
        .executeTakeFirst();
      return answer.numDeletedRows > 0n;
    },
    async removeAll(userId, trx = db) {
      await trx.deleteFrom("access_tokens").where("user_id", "=", userId).execute();
    },
    async list(userId) {
      const rows = await db
        .selectFrom("access_tokens")
        .select(["name", "created_at", "last_used_at", "expires_at", "scopes"])
        .where("user_id", "=", userId)
        .orderBy("name")
        .execute();
      return rows.map((row) => ({
        name: row.name,
        createdAt: row.created_at,
        lastUsedAt: row.last_used_at,
        expiresAt: row.expires_at,
        scopes: parseScopes(row.scopes),
      }));
    },
  };
}

function parseScopes(text: string | null): readonly string[] {
  return text === null || text === "" ? [] : text.split(" ");
}

/** Ends all access tokens of a user, in the caller's transaction. */
export async function endAccessTokens(tx: RawTransaction, userId: number): Promise<void> {
  await tx.run("delete from access_tokens where user_id = ?", [userId]);
}

async function replace(
  db: Db,
  userId: number,
  name: string,
  change: Updateable<Schema["access_tokens"]>,
): Promise<boolean> {
  const answer = await db
    .updateTable("access_tokens")
    .set(change)
    .where("user_id", "=", userId)
    .where("name", "=", name)
    .executeTakeFirst();
  return answer.numUpdatedRows > 0n;
}

/**
 * Inserts a token and locks the user, so that concurrent calls cannot exceed the limit together. The nameless token is
 * always allowed.
 */
async function insert(db: Db, row: Insertable<Schema["access_tokens"]>, also?: WriteAlso): Promise<void> {
  await transact(db, async (trx) => {
    if (!(await lockUser(trx, row.user_id))) throw new Refusal("account_deleted");
    if (row.name !== "") {
      const named = trx.selectFrom("access_tokens").where("user_id", "=", row.user_id).where("name", "!=", "");
      const { count } = await named.select((eb) => eb.fn.countAll<number>().as("count")).executeTakeFirstOrThrow();
      if (Number(count) >= ACCESS_TOKENS_MAX)
        throw new Refusal("too_many_access_tokens", { values: { n: ACCESS_TOKENS_MAX } });
    }
    await trx.insertInto("access_tokens").values(row).execute();
    await also?.(trx);
  });
}

function selectByHash(db: Db, hash: string) {
  return db
    .selectFrom("access_tokens as t")
    .leftJoin("users", (on) => on.onRef("users.id", "=", "t.user_id").on("users.kind", "=", ACCOUNT_KIND.person))
    .select(["t.id", "t.name", "t.scopes", "t.expires_at", "t.last_used_at"])
    .select([
      "users.id as account_id",
      "users.username",
      "users.role",
      "users.status",
      "users.group",
      "users.deleted_at",
    ])
    .where("t.token_hash", "=", hash)
    .executeTakeFirst();
}
