import type { UsageReport } from "@fairway/wire";
import { recordRawEvent } from "../../../events/record-event.ts";
import { seconds } from "../../../lib/clock.ts";
import { Refusal } from "../../../lib/refusal.ts";
import type { Logger } from "../../../observability/log.ts";
import type { Database } from "../../../storage/database.ts";
import type { RawTransaction } from "../../../storage/engines/raw.ts";
import { SETTLE_SECONDS, type ReportDeps } from "../build-report.ts";
import { findNextRun, findSpan } from "./calendar.ts";
import { makeReport } from "./make-report.ts";
import { findReportOwner, listPermitted, type ReportOwner } from "./receivers.ts";
import { readCadence, readReceivers, readStoredQuestion, type SavedReportRow } from "./store.ts";

export interface DueReportsDeps extends ReportDeps {
  readonly database: Database;
  readonly log: Logger;
}

const REPORTS_AT_ONCE = 100;

/**
 * Makes the reports that are due: each is an event, which endpoints and mails deliver. The event is written in the
 * transaction that moves the report to its next time, so that every period is reported once, also if a leader dies or
 * is late. Returns how many were made.
 */
export async function makeDueReports(
  deps: DueReportsDeps,
  signal: AbortSignal,
  confirm: (tx: RawTransaction) => Promise<void>,
): Promise<number> {
  const { database, clock } = deps;
  // The last calls of the period are written two minutes after its end.
  const due = seconds(clock) - 2 * SETTLE_SECONDS;
  const rows = database.db.selectFrom("saved_reports").selectAll().where("next_at", ">", 0).where("next_at", "<=", due);
  let made = 0;
  for (const row of await rows.orderBy("next_at").limit(REPORTS_AT_ONCE).execute()) {
    signal.throwIfAborted();
    if (await makeOne(row, deps, confirm)) made += 1;
  }
  return made;
}

async function makeOne(
  row: SavedReportRow,
  deps: DueReportsDeps,
  confirm: (tx: RawTransaction) => Promise<void>,
): Promise<boolean> {
  const { database, clock } = deps;
  const schedule = { cadence: readCadence(row), hour: row.hour, timeZone: readStoredQuestion(row).time_zone ?? "UTC" };
  const span = findSpan(schedule, row.next_at);
  const owner = await findReportOwner(database.db, row.user_id);
  const report = owner && (await makeFor(row, { ...span, reader: owner }, deps));
  const receivers = owner ? await listPermitted(database.db, owner, readReceivers(row)) : [];
  const next = findNextRun(schedule, row.next_at);
  const { raw } = database;
  return raw.transaction(async (tx) => {
    await confirm(tx);
    const moving = "update saved_reports set next_at = ?, sent_at = ? where id = ? and next_at = ?";
    const moved = await tx.run(moving, [next, seconds(clock), row.id, row.next_at]);
    if (moved === 0 || report === undefined) return false;
    const key = `report.ready:${row.id}:${span.start}:${span.end}`;
    const data = { id: row.id, name: row.name, ...describe(report) };
    const event = { type: "report.ready", atMs: clock.now(), accountId: row.user_id, data } as const;
    const listener = owner?.teamId === undefined ? { userId: row.user_id } : { teamId: owner.teamId };
    await recordRawEvent(tx, raw.kind, { ...event, ...listener, dedupKey: key });
    for (const userId of receivers)
      await recordRawEvent(tx, raw.kind, { ...event, userId, dedupKey: `${key}:${userId}` });
    return true;
  });
}

function describe({ start, end, total, rows }: UsageReport) {
  const { calls, errors, quota, cost_usd } = total;
  return { period_start: start, period_end: end, calls, errors, quota, cost_usd, rows: rows.length };
}

/** Returns undefined for an owner who must not ask this any more. */
async function makeFor(
  row: SavedReportRow,
  asked: { readonly start: number; readonly end: number; readonly reader: ReportOwner },
  deps: Omit<DueReportsDeps, "database">,
): Promise<UsageReport | undefined> {
  try {
    return await makeReport(readStoredQuestion(row), asked, deps);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    deps.log.warn("a scheduled report cannot be made", { report: row.id, user: row.user_id, error });
    return undefined;
  }
}
