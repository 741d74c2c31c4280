import type { RawDatabase, RawTransaction } from "../../../storage/engines/raw.ts";
import { forUpdate } from "../../../storage/statements.ts";

/** Every table that a booking writes, and the objects whose loss a test names. */
const TABLES = ["users", "tokens", "channels", "holds", "ledger", "logs", "balance_outbox", "ledger_state"] as const;

/**
 * Returns a function that takes the database back to its present state, as an asynchronous standby that is promoted, or
 * an older copy that is put back. Every booking locks the epoch, then its users, so the same locks make both states whole.
 */
export async function rememberState(database: RawDatabase): Promise<() => Promise<void>> {
  const lock = async (tx: RawTransaction) => {
    await tx.rows(`select name from ledger_state order by name${forUpdate(database.kind)}`, []);
    await tx.rows(`select id from users order by id${forUpdate(database.kind)}`, []);
  };
  for (const table of TABLES) await database.run(`create table old_${table} as select * from ${table} where 1 = 0`, []);
  await database.transaction(async (tx) => {
    await lock(tx);
    for (const table of TABLES) await tx.run(`insert into old_${table} select * from ${table}`, []);
  });
  return () =>
    database.transaction(async (tx) => {
      await lock(tx);
      for (const table of TABLES) {
        await tx.run(`delete from ${table}`, []);
        await tx.run(`insert into ${table} select * from old_${table}`, []);
      }
    });
}
