import type { Ledger } from "../../billing/ledger.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../storage/database.ts";
import type { ForeignDatabase } from "../../storage/foreign.ts";
import type { RawTransaction, SqlValue } from "../../storage/raw.ts";
import type { Vault } from "../../storage/secrets.ts";

export type FamilyKind = "one-api" | "new-api";

/** What an import works with. */
export interface ImportContext {
  readonly kind: FamilyKind;
  readonly source: ForeignDatabase;
  readonly target: Database;
  /** Holds `logs`; the main database unless logs have their own. */
  readonly logTarget: Database;
  readonly vault: Vault;
  readonly ledger: Pick<Ledger, "changeWith">;
  readonly clock: Clock;
  /** Nothing is written, everything is counted. */
  readonly isDry: boolean;
  readonly report: ImportReport;
  /** Numbers there to numbers here. */
  readonly users: Map<number, number>;
  readonly tokens: Map<number, number>;
  readonly channels: Map<number, number>;
}

type Outcome = "created" | "updated" | "kept" | "skipped";

/** What was done, or would be. */
export class ImportReport {
  readonly #counts = new Map<string, Record<Outcome, number>>();
  readonly notes: string[] = [];

  count(what: string, outcome: Outcome, note?: string): void {
    const counts = this.#counts.get(what) ?? { created: 0, updated: 0, kept: 0, skipped: 0 };
    counts[outcome] += 1;
    this.#counts.set(what, counts);
    if (note !== undefined) this.notes.push(note);
  }

  of(what: string): Readonly<Record<Outcome, number>> {
    return this.#counts.get(what) ?? { created: 0, updated: 0, kept: 0, skipped: 0 };
  }

  /** One line per kind of thing, then the notes. */
  lines(): string[] {
    const lines = [...this.#counts].map(([what, counts]) => {
      const parts = Object.entries(counts).filter(([, number]) => number > 0);
      return `${what}: ${parts.map(([outcome, number]) => `${number} ${outcome}`).join(", ")}`;
    });
    return [...lines, ...this.notes.map((note) => `- ${note}`)];
  }
}

/** Inserts a row under its old number when that is free; the database gives one otherwise. */
export async function insertKeepingId(
  tx: RawTransaction,
  table: string,
  oldId: number,
  row: Readonly<Record<string, SqlValue>>,
): Promise<void> {
  const isTaken = (await tx.rows(`select 1 as one from ${table} where id = ?`, [oldId])).length > 0;
  await insertRaw(tx, table, isTaken ? row : { id: oldId, ...row });
}

export async function insertRaw(
  tx: RawTransaction,
  table: string,
  row: Readonly<Record<string, SqlValue>>,
): Promise<void> {
  const names = Object.keys(row).map((name) => `"${name}"`);
  const places = names.map(() => "?").join(", ");
  await tx.run(`insert into ${table} (${names.join(", ")}) values (${places})`, Object.values(row));
}

/** PostgreSQL does not count numbers that were given by hand: the next one must be free. */
export async function alignIds({ raw, kind }: Database, tables: readonly string[]): Promise<void> {
  if (kind !== "postgres") return;
  for (const table of tables) {
    const next = `(select coalesce(max(id), 0) + 1 from ${table})`;
    await raw.rows(`select setval(pg_get_serial_sequence('${table}', 'id'), ${next}, false)`, []);
  }
}
