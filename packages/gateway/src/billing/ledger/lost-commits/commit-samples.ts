import type { LedgerKind } from "../ledger.ts";

/** A ledger row that this process has committed. */
export interface CommittedRow {
  readonly requestId: string;
  readonly kind: LedgerKind;
}

/**
 * One ledger row of every tenth of a second in which this process committed some. A database that goes back loses the
 * end of its history, so at least the last one of these is missing then.
 */
export interface CommitSamples {
  add(row: CommittedRow, now: number): void;
  /** Removes and returns the samples that are older than a second. */
  take(now: number): CommittedRow[];
  /** Returns samples that could not be compared. */
  putBack(rows: readonly CommittedRow[]): void;
}

const EVERY_MS = 100;
const SETTLED_MS = 1_000;
/** Far more than between two checks; a database that is away commits nothing. */
const MAX_SAMPLES = 2_000;

export function createCommitSamples(): CommitSamples {
  const rows = new Map<number, CommittedRow>();
  let waiting: CommittedRow[] = [];
  return {
    add: (row, now) => void rows.set(Math.floor(now / EVERY_MS), row),
    take(now) {
      const taken = waiting;
      waiting = [];
      for (const [slot, row] of rows) {
        if ((slot + 1) * EVERY_MS > now - SETTLED_MS) continue;
        taken.push(row);
        rows.delete(slot);
      }
      return taken;
    },
    putBack(some) {
      waiting = [...waiting, ...some].slice(-MAX_SAMPLES);
    },
  };
}
