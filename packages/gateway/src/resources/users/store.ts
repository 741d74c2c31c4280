import { ACCOUNT_KIND, ROLE, USER_SORTS } from "@fairway/wire";
import type { Expression, ExpressionBuilder, Kysely, SqlBool, Transaction, Updateable } from "kysely";
import type { Principal } from "../../identity/principal.ts";
import type { Database } from "../../storage/database.ts";
import { containing, likeAnyCase } from "../../storage/like.ts";
import type { RawTransaction, SqlValue } from "../../storage/engines/raw.ts";
import { bump } from "../../storage/revisions.ts";
import type { UserTable } from "../../storage/tables/schema-accounts.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { lockRows, rawOn, transact } from "../../storage/transaction.ts";
import type { Announce } from "../ports.ts";
import { removeUserEndpoints } from "../webhooks/store.ts";
import { USER_COLUMNS, type UserRow } from "./view.ts";

export interface UserQuery {
  /** The caller: a search by an address that the caller may not see finds no user. */
  readonly viewer: Pick<Principal, "userId" | "role">;
  readonly keyword: string;
  /** "" = any. */
  readonly group: string;
  readonly roles: readonly number[];
  readonly statuses: readonly number[];
  readonly sort: string;
  readonly order: string;
  readonly offset: number;
  readonly limit: number;
}

export interface UserStoreDeps {
  readonly database: Database;
  readonly announce: Announce;
  /** The relay's copies of tokens and their users. */
  readonly tokens: { dropUser(userId: number): void };
}

export type Trx = Transaction<Schema>;
export type UserStore = ReturnType<typeof createUserStore>;

/** Creates the SQL of accounts. Writes name their columns: a balance is never written back from a row that was read. */
export function createUserStore({ database, announce, tokens }: UserStoreDeps) {
  const { db, kind } = database;

  /** Runs after a commit: every copy of the user is stale and is dropped. */
  const forget = async (userId: number): Promise<void> => {
    tokens.dropUser(userId);
    await announce("users");
  };

  /** Runs one transaction; afterwards every copy of the user is stale and is dropped. */
  const write = async <T>(userId: number, work: (trx: Trx) => Promise<T>): Promise<T> => {
    const answer = await transact(db, async (trx) => {
      const result = await work(trx);
      await bump(rawOn(trx, kind), kind, "users");
      return result;
    });
    await forget(userId);
    return answer;
  };

  return {
    write,
    forget,
    /** Finds any row, including deleted ones. */
    find: (id: number): Promise<UserRow | undefined> => selectUser(db).where("id", "=", id).executeTakeFirst(),

    /** Finds a user by `usernameKey`. */
    findByName: (key: string): Promise<UserRow | undefined> =>
      selectUser(db).where("username_key", "=", key).executeTakeFirst(),

    /** Returns the stored hash of a password; only for comparison. */
    findPasswordHash: async (id: number): Promise<string | undefined> =>
      (await selectUser(db).select("password").where("id", "=", id).executeTakeFirst())?.password,

    /** Returns true if another user, even a deleted one, has this name in any letter case. */
    isNameTaken: async (key: string, exceptId = 0): Promise<boolean> =>
      (await db
        .selectFrom("users")
        .select("id")
        .where("username_key", "=", key)
        .where("id", "!=", exceptId)
        .executeTakeFirst()) !== undefined,

    isEmailTaken: async (email: string, exceptId = 0): Promise<boolean> =>
      (await db
        .selectFrom("users")
        .select("id")
        .where("email", "=", email)
        .where("id", "!=", exceptId)
        .executeTakeFirst()) !== undefined,

    update: async (trx: Trx, id: number, change: Updateable<UserTable>): Promise<void> => {
      await trx.updateTable("users").set(change).where("id", "=", id).execute();
      if (typeof change.deleted_at === "number") await removeUserEndpoints(trx, `user:${id}`);
    },

    /** Removes the row and all that belongs to it; logs stay. `check` throws to refuse. */
    remove: (id: number, check: (user: UserRow | undefined) => void) =>
      write(id, (trx) => removeRows(trx, kind, id, check)),

    list: async (query: UserQuery): Promise<{ readonly rows: UserRow[]; readonly total: number }> => {
      const matching = filtered(db, query);
      const count = await matching.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
      const page = ordered(matching, query).select(USER_COLUMNS).limit(query.limit).offset(query.offset);
      return { rows: await page.execute(), total: Number(count.total) };
    },

    preferences: async (userId: number): Promise<Record<string, unknown>> => {
      const row = await db.selectFrom("preferences").select("value").where("user_id", "=", userId).executeTakeFirst();
      return row ? (JSON.parse(row.value) as Record<string, unknown>) : {};
    },
  };
}

async function removeRows(
  trx: Trx,
  kind: Database["kind"],
  id: number,
  check: (user: UserRow | undefined) => void,
): Promise<void> {
  const tx = rawOn(trx, kind);
  check(await lockedUser(tx, id));
  const own = await trx.selectFrom("tokens").select("id").where("user_id", "=", id).execute();
  const ids = own.map((token) => token.id);
  await lockRows(tx, kind, "tokens", ids);
  if (ids.length > 0) await trx.deleteFrom("token_keys").where("token_id", "in", ids).execute();
  for (const table of ["tokens", "sessions", "access_tokens", "passkeys", "preferences"] as const) {
    await trx.deleteFrom(table).where("user_id", "=", id).execute();
  }
  await removeUserEndpoints(trx, `user:${id}`);
  await trx.deleteFrom("users").where("id", "=", id).execute();
  await bump(tx, kind, "tokens");
}

/** Runs in the caller's transaction; the caller must then call `forget`. */
export async function updateUser(
  tx: RawTransaction,
  kind: Database["kind"],
  { id, change }: { readonly id: number; readonly change: Updateable<UserTable> },
): Promise<void> {
  const columns = Object.entries(change) as [string, SqlValue][];
  const settings = columns.map(([name]) => `"${name}" = ?`).join(", ");
  await tx.run(`update users set ${settings} where id = ?`, [...columns.map(([, value]) => value), id]);
  await bump(tx, kind, "users");
}

/** Returns the row, locked until the transaction ends. */
export async function lockedUser(tx: RawTransaction, id: number): Promise<UserRow | undefined> {
  await tx.run("update users set status = status where id = ?", [id]);
  const [row] = await tx.rows<UserRow>(
    `select ${COLUMN_LIST} from users where id = ? and kind = ${ACCOUNT_KIND.person}`,
    [id],
  );
  return row;
}

const COLUMN_LIST = USER_COLUMNS.map((name) => `"${name}"`).join(", ");

function selectUser(db: Kysely<Schema>) {
  return db.selectFrom("users").select(USER_COLUMNS).where("kind", "=", ACCOUNT_KIND.person);
}

function filtered(db: Kysely<Schema>, { viewer, keyword, group, roles, statuses }: UserQuery) {
  let rows = db.selectFrom("users").where("kind", "=", ACCOUNT_KIND.person);
  if (keyword !== "") {
    const id = /^\d{1,15}$/.test(keyword) ? Number(keyword) : undefined;
    rows = rows.where((eb) =>
      eb.or([
        ...["username", "display_name"].map((column) => likeAnyCase(column, containing(keyword))),
        eb.and([likeAnyCase("email", containing(keyword)), isVisible(eb, viewer)]),
        ...(id === undefined ? [] : [eb("id", "=", id)]),
      ]),
    );
  }
  if (group !== "") rows = rows.where("group", "=", group);
  if (roles.length > 0) rows = rows.where("role", "in", roles);
  if (statuses.length > 0) rows = rows.where("status", "in", statuses);
  return rows;
}

/** Returns `canView` as an SQL condition. */
function isVisible(eb: ExpressionBuilder<Schema, "users">, { userId, role }: UserQuery["viewer"]): Expression<SqlBool> {
  return role === ROLE.root ? eb.and([]) : eb.or([eb("role", "<", role), eb("id", "=", userId)]);
}

type Matching = ReturnType<typeof filtered>;

/** Orders by the caller's column if the list has it, then newest first. */
function ordered(select: Matching, { sort, order }: UserQuery): Matching {
  const column = USER_SORTS.find((name) => name === sort);
  const direction = order.toLowerCase() === "asc" ? "asc" : "desc";
  if (column === undefined || column === "id") return select.orderBy("id", column === "id" ? direction : "desc");
  return select.orderBy(column, direction).orderBy("id", "desc");
}
