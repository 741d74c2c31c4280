import { randomUUID } from "node:crypto";
import { upsertSql } from "../../../../storage/inserts.ts";
import type { RawDatabase, RawTransaction } from "../../../../storage/engines/raw.ts";
import { forUpdate } from "../../../../storage/statements.ts";

/** State of the Redis ledger in the database, to detect a Redis that lost everything. */
export interface LedgerState {
  /** Increases when balances in Redis must be reloaded. */
  readonly epoch: number;
  /** Identifies this database. */
  readonly installation: string;
  /** True if no process has used Redis with this database before. */
  readonly isNew: boolean;
}

interface StateRow {
  readonly name: string;
  readonly number: number;
  readonly text: string;
}

const KEEP = { table: "ledger_state", columns: ["name", "number", "text"], key: ["name"] } as const;

/** Reads the state, or creates it. Safe to run on several replicas at once: the first one decides. */
export async function readLedgerState(database: RawDatabase): Promise<LedgerState> {
  const before = await readRows(database);
  if (!before.has("epoch")) {
    const insert = upsertSql(database.kind, KEEP, 2);
    await database.run(insert, ["epoch", 1, "", "installation", 0, randomUUID()]);
  }
  const rows = before.has("epoch") ? before : await readRows(database);
  return {
    epoch: rows.get("epoch")?.number ?? 1,
    installation: rows.get("installation")?.text ?? "",
    isNew: !before.has("epoch"),
  };
}

async function readRows(database: RawTransaction): Promise<Map<string, StateRow>> {
  const rows = await database.rows<StateRow>("select name, number, text from ledger_state", []);
  return new Map(rows.map((row) => [row.name, row]));
}

/**
 * Returns the epoch after `knownEpoch`, or a later one that another replica has begun. Waits for transactions that book
 * charges of the old epoch, so that none of them commits later.
 */
export function nextEpoch(database: RawDatabase, knownEpoch: number): Promise<number> {
  return database.transaction(async (tx) => {
    const [row] = await tx.rows<StateRow>(
      `select number from ledger_state where name = 'epoch'${forUpdate(database.kind)}`,
      [],
    );
    const current = row?.number ?? 0;
    if (current > knownEpoch) return current;
    await tx.run("update ledger_state set number = ? where name = 'epoch'", [knownEpoch + 1]);
    return knownEpoch + 1;
  });
}

/** Thrown if balances were invalidated before charges were booked; charges that Redis lost are then booked directly. */
export class EpochEnded extends Error {
  override readonly name = "EpochEnded";
}

/** Locks the epoch until the transaction ends. Throws EpochEnded if it has changed. */
export async function requireEpoch(tx: RawTransaction, kind: RawDatabase["kind"], epoch: number): Promise<void> {
  const share = { sqlite: "", mysql: " lock in share mode", postgres: " for share" }[kind];
  const [row] = await tx.rows<StateRow>(`select number from ledger_state where name = 'epoch'${share}`, []);
  if (row?.number !== epoch) throw new EpochEnded(`epoch ${epoch} ended, ${row?.number ?? "none"} is current`);
}
