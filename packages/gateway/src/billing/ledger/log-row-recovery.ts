import type { Logger } from "../../observability/log.ts";
import type { RawDatabase } from "../../storage/engines/raw.ts";
import { isPassing, isUnstorable } from "../../storage/errors.ts";
import { createLogWriter } from "../../storage/log-rows.ts";
import type { LogDetail, Settlement } from "./ledger.ts";

/** So often a database that takes such rows refuses one charge before it counts as the row's own fault. */
export const REFUSALS = 3;

/** False while a refusal says nothing about what was refused: the database is away, or takes no writes at all. */
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
  /** A log row was given up. */
  readonly onLogRowRefused?: (() => void) | undefined;
}

/**
 * Whether the log row of a charge is to blame for a refusal, which holds what came from outside: then the charge is
 * booked without it. A row that meets a full disk or a broken connection waits with its charge.
 */
export async function isLogRowToBlame(
  settlement: Settlement,
  { error, refusals }: { readonly error: unknown; readonly refusals: number },
  deps: LogRowRecoveryDeps,
): Promise<boolean> {
  const { log } = settlement;
  if (!log) return false;
  if (isUnstorable(error)) return true;
  return refusals >= REFUSALS && !isPassing(error) && (await takesRowOf(log, deps));
}

/** The charge without its log row; the process log keeps what the row said. */
export function withoutLogRow(
  settlement: Settlement,
  error: unknown,
  { log, onLogRowRefused }: LogRowRecoveryDeps,
): Settlement {
  const { log: row, ...rest } = settlement;
  log.error("log row refused by the database, the charge goes on without it", {
    error,
    request_id: settlement.hold.requestId,
    row,
  });
  onLogRowRefused?.();
  return rest;
}

class Probed extends Error {}

/** True when the database takes a harmless row of the same size; the row does not stay. */
async function takesRowOf(row: LogDetail, { database, isLogSeparate }: LogRowRecoveryDeps): Promise<boolean> {
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
