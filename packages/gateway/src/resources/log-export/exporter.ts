import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../observability/log.ts";
import type { Database } from "../../storage/database.ts";
import type { LogDatabase } from "../../storage/log-database.ts";
import { newestLogId } from "../../storage/newest-log.ts";
import { createCursorStore, type Cursor } from "./cursor.ts";
import { ExportError, type Destination, type DestinationName } from "./destination.ts";
import type { Horizon } from "../../lib/async/horizon.ts";
import { findBatchEnd, rowsBetween, timeAfter } from "./rows.ts";

export interface ExportMetrics {
  /** Age in seconds of the oldest row that the destination does not have; 0 if it has all. */
  logExportLag(destination: DestinationName, seconds: number): void;
  logRowsExported(destination: DestinationName, result: "sent" | "rejected", rows: number): void;
  logExportFailed(destination: DestinationName, reason: string): void;
}

export interface ExporterDeps {
  /** Database of the cursor. */
  readonly database: Database;
  /** Database of the log; the same one unless logs have their own. */
  readonly logs: LogDatabase;
  readonly destination: Destination;
  readonly horizon: Horizon;
  /** Where a destination without a cursor begins. */
  readonly from: "oldest" | "now";
  readonly clock: Clock;
  /** Milliseconds of a clock that never goes back. */
  readonly elapsed: () => number;
  readonly log: Pick<Logger, "info" | "warn">;
  readonly metrics: ExportMetrics;
}

export interface Exporter {
  readonly name: DestinationName;
  /**
   * Sends the batches that are due. Never throws for errors of the destination. `confirm` throws if another replica
   * leads.
   */
  run(signal: AbortSignal, confirm: () => Promise<void>): Promise<void>;
  /** Undefined before the first run of this process. */
  status(): { readonly isNormal: boolean; readonly detail: string } | undefined;
}

/** Duration of one run; the next run continues a long log, so that other jobs of the leader are not delayed. */
const BUDGET_MS = 30_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;
const SAY_EVERY_MS = 600_000;

/**
 * Creates the exporter, which sends rows of the log in the order of their ids, each once, and moves the cursor when the
 * destination has confirmed them.
 */
export function createExporter(deps: ExporterDeps): Exporter {
  const { destination, clock, elapsed, metrics } = deps;
  const { name } = destination;
  const trouble = createTrouble(deps);
  let sentAt = -Infinity;
  let behind: number | undefined;

  const cursors = createCursorStore(deps.database, name);

  const sendDue = async (signal: AbortSignal, confirm: () => Promise<void>) => {
    const end = elapsed() + BUDGET_MS;
    const isOverdue = elapsed() - sentAt >= destination.everyMs;
    const newest = await newestLogId(deps.logs);
    const settled = deps.horizon.settled(newest);
    await cursors.begin(deps.from === "now" ? newest : 0);
    for (let cursor = await cursors.read(); ;) {
      if (newest < cursor.done) throw replaced(newest, cursor.done);
      const batch = await nextBatch(deps, { cursor, settled, isOverdue });
      if (batch === undefined || signal.aborted) return cursor.done;
      if (batch > cursor.planned && !(await cursors.plan(cursor, batch))) return cursor.done;
      const planned: Cursor = { ...cursor, planned: batch };
      await confirm();
      await sendOne(deps, planned, signal);
      sentAt = elapsed();
      trouble.isOver();
      if (!(await cursors.finish(planned))) return cursor.done;
      cursor = { ...planned, done: batch };
      if (elapsed() > end) return cursor.done;
    }
  };

  const measure = async (done: number) => {
    const oldest = await timeAfter(deps.logs, done);
    behind = oldest === undefined ? 0 : Math.max(0, Math.floor(clock.now() / 1_000) - oldest);
    metrics.logExportLag(name, behind);
  };

  return {
    name,
    async run(signal, confirm) {
      if (trouble.isResting()) {
        // The horizon has to know the current rows.
        deps.horizon.settled(await newestLogId(deps.logs));
        return measure((await cursors.read()).done);
      }
      try {
        await measure(await sendDue(signal, confirm));
      } catch (error) {
        if (!(error instanceof ExportError) || signal.aborted) throw error;
        trouble.begins(error);
        await measure((await cursors.read()).done);
      }
    },
    status() {
      if (behind === undefined) return undefined;
      const lag = behind === 0 ? "has all rows" : `is ${behind} s behind`;
      const problem = trouble.problem();
      return { isNormal: problem === undefined, detail: problem === undefined ? lag : `${lag}: ${problem}` };
    },
  };
}

interface Due {
  readonly cursor: Cursor;
  readonly settled: number | undefined;
  readonly isOverdue: boolean;
}

function replaced(newest: number, done: number): ExportError {
  return new ExportError(
    "missing",
    `the log ends at row ${newest} and row ${done} was exported: the log was replaced, so delete the rows log-export-% of the table revisions to export it from its beginning`,
  );
}

/** Returns the last id of the next batch; undefined if there is none yet. A planned batch comes first, unchanged. */
async function nextBatch({ logs, destination }: ExporterDeps, due: Due): Promise<number | undefined> {
  const { cursor, settled, isOverdue } = due;
  if (cursor.planned > cursor.done) return cursor.planned;
  if (settled === undefined || settled <= cursor.done) return undefined;
  const { to, isFull } = await findBatchEnd(logs, { after: cursor.done, settled, rows: destination.rowsAtOnce });
  return isFull || isOverdue ? to : undefined;
}

async function sendOne(
  { logs, destination, metrics, log }: ExporterDeps,
  { done: after, planned: to }: Cursor,
  signal: AbortSignal,
): Promise<void> {
  const rows = await rowsBetween(logs, after, to);
  if (rows.length === 0) return;
  const rejected = Math.min(rows.length, await destination.send({ after, to, rows }, signal));
  if (rejected > 0)
    log.warn("the destination refused log rows for good", { destination: destination.name, rows: rejected });
  metrics.logRowsExported(destination.name, "sent", rows.length - rejected);
  metrics.logRowsExported(destination.name, "rejected", rejected);
}

/** Handles a destination that fails: logs one line, increases the pauses, and logs one line when it is over. */
function createTrouble({ destination: { name }, elapsed, log, metrics }: ExporterDeps) {
  let failures = 0;
  let restUntil = -Infinity;
  let saidAt = -Infinity;
  let said = "";
  let current: ExportError | undefined;
  return {
    isResting: () => elapsed() < restUntil,
    problem: () => current?.message,
    begins(error: ExportError) {
      current = error;
      failures += 1;
      const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
      restUntil = elapsed() + Math.max(pause, error.retryAfterMs ?? 0);
      metrics.logExportFailed(name, error.reason);
      if (error.message === said && elapsed() - saidAt < SAY_EVERY_MS) return;
      said = error.message;
      saidAt = elapsed();
      log.warn("log rows wait: the export failed and is tried again", { destination: name, problem: error.message });
    },
    isOver() {
      if (!current) return;
      log.info("log rows are exported again", { destination: name, failures });
      [failures, current, said, restUntil] = [0, undefined, "", -Infinity];
    },
  };
}
