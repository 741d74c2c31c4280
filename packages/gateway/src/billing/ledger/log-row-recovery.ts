import type { Logger } from "../../observability/log.ts";
import type { RawDatabase } from "../../storage/engines/raw.ts";
import { isPassing, isUnstorable } from "../../storage/errors.ts";
import { createLogWriter } from "../../storage/log-rows.ts";
import type { LogDetail, Settlement } from "./ledger.ts";

/** A log row is dropped after this many failures of its charge on a database that accepts other rows. */
export const REFUSALS = 3;

/** Returns false while the database is unreachable or accepts no writes: then a failure is not caused by the row. */
export async function takesWrites(database: Pick<RawDatabase, "transaction">): Promise<boolean> {
  try {
    await database.transaction((tx) => tx.run("update users set held = held where id = 0", []));
    return true;
  } catch {
    return false;
  }
}

export interface LogRowRecoveryDeps {
  readonly database: RawDatabase;
  readonly log: Logger;
  readonly isLogSeparate: boolean;
  /** Called when a log row is dropped. */
  readonly onLogRowRefused?: (() => void) | undefined;
}

/**
 * Returns whether the log row, which contains text from clients and upstreams, caused the failure; if so, the charge is
 * booked without it. After a full disk or a broken connection, the row is retried with its charge.
 */
export async function isLogRowToBlame(
  settlement: Settlement,
  { error, refusals }: { readonly error: unknown; readonly refusals: number },
  deps: LogRowRecoveryDeps,
): Promise<boolean> {
  const { log } = settlement;
  if (!log) return false;
  if (isUnstorable(error)) return true;
  return refusals >= REFUSALS && !isPassing(error) && (await canStoreRow(log, deps));
}

/** Returns the charge without its log row, which goes to the process log instead. */
export function withoutLogRow(
  settlement: Settlement,
  error: unknown,
  { log, onLogRowRefused }: LogRowRecoveryDeps,
): Settlement {
  const { log: row, ...rest } = settlement;
  log.error("the database rejected a log row; the charge is booked without it", {
    error,
    request_id: settlement.hold.requestId,
    row,
  });
  onLogRowRefused?.();
  return rest;
}

class Probed extends Error {}

/** Returns true if the database accepts a plain row of the same size; the transaction is rolled back. */
async function canStoreRow(row: LogDetail, { database, isLogSeparate }: LogRowRecoveryDeps): Promise<boolean> {
  const write = createLogWriter(isLogSeparate);
  const other = "x".repeat(JSON.stringify(row).length);
  try {
    await database.transaction(async (tx) => {
      await write(tx, { user_id: 0, username: "", created_at: 0, type: 0, content: "", other });
      throw new Probed();
    });
  } catch (error) {
    return error instanceof Probed;
  }
  return true;
}
