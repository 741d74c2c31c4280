import { steadyClock, type Clock } from "../../lib/clock.ts";
import type { RawDatabase, RawTransaction } from "../../storage/engines/raw.ts";
import { serverTimeSql } from "../../storage/engines/server-time.ts";

/** A point in time as a part of a statement. */
interface Moment {
  readonly sql: string;
  readonly values: readonly number[];
}

/**
 * The time that determines the age of reservations. Clocks of machines are never compared, because a replica whose
 * clock is ahead would end reservations of the others. On a server it is the time of the database; SQLite has one
 * process, which uses a clock that cannot be set.
 */
export interface LeaseTime {
  /** Returns the time of the statement plus `ms` milliseconds. */
  at(ms?: number): Moment;
  /** Returns the time as a number. Queries a server, within the transaction. */
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
