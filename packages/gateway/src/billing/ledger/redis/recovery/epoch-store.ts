import { randomUUID } from "node:crypto";
import { upsertSql } from "../../../../storage/inserts.ts";
import type { RawDatabase, RawTransaction } from "../../../../storage/engines/raw.ts";
import { forUpdate } from "../../../../storage/statements.ts";

/** What the database remembers about the ledger in Redis, so that a Redis that lost everything is noticed. */
export interface LedgerState {
  /** Rises when balances in Redis must be read anew. */
  readonly epoch: number;
  /** Tells this database from others. */
  readonly installation: string;
  /** No process has kept balances of this database in Redis before. */
  readonly isNew: boolean;
}

interface StateRow {
  readonly name: string;
  readonly number: number;
  readonly text: string;
}

const KEEP = { table: "ledger_state", columns: ["name", "number", "text"], key: ["name"] } as const;

/** Safe on several replicas at once: the first one decides. */
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
 * Answers the epoch after `believed`, or a later one that another replica has begun. Waits for transactions that book
 * charges of the old one; none of them commits after this.
 */
export function nextEpoch(database: RawDatabase, believed: number): Promise<number> {
  return database.transaction(async (tx) => {
    const [row] = await tx.rows<StateRow>(
      `select number from ledger_state where name = 'epoch'${forUpdate(database.kind)}`,
      [],
    );
    const current = row?.number ?? 0;
    if (current > believed) return current;
    await tx.run("update ledger_state set number = ? where name = 'epoch'", [believed + 1]);
    return believed + 1;
  });
}

/** Balances were declared unknown while charges were on their way; what Redis does not have any more is booked past it. */
export class EpochEnded extends Error {
  override readonly name = "EpochEnded";
}

/** Keeps the epoch as it is until the transaction ends. Throws EpochEnded when it is another one. */
export async function requireEpoch(tx: RawTransaction, kind: RawDatabase["kind"], epoch: number): Promise<void> {
  const share = { sqlite: "", mysql: " lock in share mode", postgres: " for share" }[kind];
  const [row] = await tx.rows<StateRow>(`select number from ledger_state where name = 'epoch'${share}`, []);
  if (row?.number !== epoch) throw new EpochEnded(`epoch ${epoch} ended, ${row?.number ?? "none"} is current`);
}
