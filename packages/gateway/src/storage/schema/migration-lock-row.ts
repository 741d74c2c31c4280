import { randomUUID } from "node:crypto";
import { CompiledQuery, sql, type Kysely } from "kysely";
import { repeat } from "../../lib/async/repeat.ts";
import type { Database } from "../database.ts";
import { isTransient } from "../errors.ts";
import type { Schema } from "../tables/schema.ts";

/** A holder that does not renew the row for this long is dead; shorter than a process waits for the lock. */
const LEASE_SECONDS = 60;
const RENEW_MS = 10_000;

const CREATE =
  "create table if not exists schema_lock (id int primary key, server varchar(255) not null, holder varchar(64) not null, expires_at bigint not null)";
/** Nodes of a cluster have different addresses or folders. */
const SERVER = "concat_ws(':', @@hostname, @@port, left(md5(@@datadir), 8))";

/** A row that one process of a whole cluster holds. */
export interface LockRow {
  /**
   * Takes the row if it is free. The caller has the named lock of this server, so another holder on this server is
   * dead.
   */
  take(): Promise<boolean>;
  /** Stops renewing, and lets others take the row. */
  free(): Promise<void>;
}

/** Creates the table if it is missing. */
export async function openLockRow(db: Kysely<Schema>, database: Database): Promise<LockRow> {
  const holder = randomUUID();
  const run = async (text: string, values: readonly unknown[] = []): Promise<number> => {
    const { numAffectedRows = 0n } = await db.executeQuery(CompiledQuery.raw(text, [...values]));
    return Number(numAffectedRows);
  };
  await retried(() => run(CREATE));
  await retried(() => run("insert ignore into schema_lock (id, server, holder, expires_at) values (1, '', '', 0)"));
  const renewal = repeat({
    name: "schema lock",
    everyMs: RENEW_MS,
    // On a connection of its own, because the other one may be in a long statement.
    work: async () => {
      await sql`update schema_lock set expires_at = unix_timestamp() + ${LEASE_SECONDS} where holder = ${holder}`.execute(
        database.db,
      );
    },
    onError: () => undefined,
  });
  return {
    async take() {
      const free = `holder = '' or server = ${SERVER} or expires_at < unix_timestamp()`;
      const set = `server = ${SERVER}, holder = ?, expires_at = unix_timestamp() + ${LEASE_SECONDS}`;
      try {
        const taken = await run(`update schema_lock set ${set} where id = 1 and (${free})`, [holder]);
        if (taken === 0) return false;
      } catch (error) {
        // Another node of the cluster was faster.
        if (isTransient(error)) return false;
        throw error;
      }
      await renewal.start();
      return true;
    },
    async free() {
      await renewal.stop();
      await retried(() => run("update schema_lock set holder = '', expires_at = 0 where holder = ?", [holder]));
    },
  };
}

const TRIES = 20;

/** Repeats a statement that conflicts with one of another node. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries >= TRIES || !isTransient(error)) throw error;
    }
  }
}
