import {
  isHiddenOption,
  isSecretOption,
  LOG_TYPE,
  OPTION_KEYS,
  optionDefault,
  type OptionChange,
  type OptionDefaults,
  type OptionKey,
  type OptionRow,
} from "@fairway/wire";
import type { Transaction } from "kysely";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { CheckTag } from "../../http/etag.ts";
import type { Database } from "../../storage/database.ts";
import { upsertSql } from "../../storage/inserts.ts";
import { operatorInfo, type WriteLog } from "../../storage/log-rows.ts";
import { bump } from "../../storage/revisions.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { isSealed } from "../../storage/secrets/secrets.ts";
import { rawOn, transact } from "../../storage/transaction.ts";
import type { Announce, Vault } from "../ports.ts";
import { optionValue } from "../../storage/secrets/sealed-locations.ts";

export interface OptionStoreDeps {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly announce: Announce;
  readonly writeLog: WriteLog;
  /** The gateway's own price tables. */
  readonly defaults: OptionDefaults;
}

/** A checked change; if `text` is undefined, the option returns to its default. */
export interface OptionWrite {
  readonly key: OptionKey;
  readonly text: string | undefined;
}

export interface Writer {
  readonly userId: number;
  readonly username: string;
  readonly ip: string;
}

export type OptionStore = ReturnType<typeof createOptionStore>;

/** Creates the SQL of options. Secrets are sealed; the history and the log never contain them. */
export function createOptionStore(deps: OptionStoreDeps) {
  const { database, vault } = deps;
  const { db, kind } = database;

  const stored = async (): Promise<OptionRow[]> => {
    const rows = await db
      .selectFrom("options")
      .select(["key", "value"])
      .where("key", "in", [...OPTION_KEYS])
      .execute();
    return rows.map(({ key, value }) => ({
      key,
      value: isSealed(value) ? vault.open(value, optionValue(key)) : value,
    }));
  };

  return {
    /** Stored options in clear text. */
    stored,

    /** Returns every option except the hidden ones, by key. */
    visible: async (): Promise<OptionRow[]> => {
      const texts = new Map((await stored()).map(({ key, value }) => [key, value]));
      const keys = OPTION_KEYS.filter((key) => !isHiddenOption(key)).sort((a, b) => (a < b ? -1 : 1));
      return keys.map((key) => ({ key, value: texts.get(key) ?? optionDefault(key, deps.defaults) }));
    },

    /** Returns the hidden options that have a value. */
    filledSecrets: async (): Promise<string[]> =>
      (await stored()).filter(({ key, value }) => isHiddenOption(key) && value !== "").map(({ key }) => key),

    /** Returns true if a person wrote the stored value, and not the first start or an import. */
    isSetByOperator: async (key: OptionKey): Promise<boolean> => {
      const rows = db.selectFrom("option_history").select("user_id").where("key", "=", key);
      const newest = await rows.orderBy("id", "desc").limit(1).executeTakeFirst();
      return (newest?.user_id ?? 0) !== 0;
    },

    /** Writes all changes or none; resolves when this replica uses them. */
    write: async (changes: readonly OptionWrite[], writer: Writer, check?: CheckTag): Promise<void> => {
      await transact(db, async (trx) => {
        // This comes first, so that writers wait for each other.
        await bump(rawOn(trx, kind), kind, "options");
        check?.(await newestChange(trx));
        await writeOptions(deps, trx, changes, writer);
      });
      await deps.announce("options");
    },

    /** Increases with every change of any option. */
    tag: () => newestChange(db),

    history: async (query: { readonly key: string; readonly offset: number; readonly limit: number }) => {
      let rows = db.selectFrom("option_history as h");
      if (query.key !== "") rows = rows.where("h.key", "=", query.key);
      const count = await rows.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
      const changes = await rows
        .leftJoin("users", "users.id", "h.user_id")
        .select(["h.id", "h.key", "h.old_value", "h.new_value", "h.user_id", "h.created_at", "users.username"])
        .orderBy("h.id", "desc")
        .limit(query.limit)
        .offset(query.offset)
        .execute();
      const view = changes.map((row): OptionChange => ({ ...row, username: row.username ?? "" }));
      return { changes: view, total: Number(count.total) };
    },
  };
}

/** Writes changes in the transaction of a caller that has raised the revision of the options. */
export async function writeOptions(
  deps: OptionStoreDeps,
  trx: Transaction<Schema>,
  changes: readonly OptionWrite[],
  writer: Writer,
): Promise<void> {
  for (const change of changes) await writeOne(deps, trx, change, writer);
}

async function newestChange(db: Pick<Transaction<Schema>, "selectFrom">): Promise<string> {
  const row = await db
    .selectFrom("option_history")
    .select((eb) => eb.fn.max("id").as("id"))
    .executeTakeFirst();
  return String(row?.id ?? 0);
}

const UPSERT = { table: "options", columns: ["key", "value"], key: ["key"], replace: ["value"] } as const;

async function writeOne(
  { database: { kind }, vault, clock, writeLog }: OptionStoreDeps,
  trx: Transaction<Schema>,
  { key, text }: OptionWrite,
  writer: Writer,
): Promise<void> {
  const tx = rawOn(trx, kind);
  const now = seconds(clock);
  const old = await trx.selectFrom("options").select("value").where("key", "=", key).executeTakeFirst();
  const isHidden = isHiddenOption(key);
  const values = { old_value: isHidden ? null : (old?.value ?? null), new_value: isHidden ? null : (text ?? null) };
  await trx
    .insertInto("option_history")
    .values({ key, ...values, user_id: writer.userId, created_at: now })
    .execute();
  if (text === undefined) await trx.deleteFrom("options").where("key", "=", key).execute();
  else
    await tx.run(upsertSql(kind, UPSERT), [
      key,
      isSecretOption(key) && text !== "" ? vault.seal(text, optionValue(key)) : text,
    ]);
  const who = { user_id: writer.userId, username: writer.username, ip: writer.ip };
  const other = operatorInfo(writer, writer.ip);
  await writeLog(tx, { ...who, created_at: now, type: LOG_TYPE.manage, content: `Option ${key} changed`, other });
}
