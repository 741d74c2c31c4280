import { steadyClock, type Clock } from "../../lib/clock.ts";
import type { RawDatabase, RawTransaction } from "../../storage/engines/raw.ts";
import { serverTimeSql } from "../../storage/engines/server-time.ts";

/** A moment as part of a statement. */
interface Moment {
  readonly sql: string;
  readonly values: readonly number[];
}

/**
 * The time by which reservations age. Clocks of machines are never compared: of several replicas, one that is ahead
 * would end reservations of the others. On a server it is the time of the database; SQLite has one process, which uses
 * a clock that no one can set.
 */
export interface LeaseTime {
  /** The time of the statement, and so many milliseconds. */
  at(ms?: number): Moment;
  /** The same as a number. Asks a server, within the transaction. */
  read(tx: RawTransaction): Promise<number>;
}

/** @param clock used instead; for tests */
export function createLeaseTime(kind: RawDatabase["kind"], clock?: Clock): LeaseTime {
  const own = clock ?? (kind === "sqlite" ? steadyClock : undefined);
  if (own)
    return {
      at: (ms = 0) => ({ sql: "?", values: [own.now() + ms] }),
      read: () => Promise.resolve(own.now()),
    };
  const now = serverTimeSql(kind);
  return {
    at: (ms = 0) => ({ sql: ms === 0 ? now : `${now} + (${ms})`, values: [] }),
    async read(tx) {
      const [row] = await tx.rows<{ now: number }>(`select ${now} as now`, []);
      return Number(row?.now);
    },
  };
}
