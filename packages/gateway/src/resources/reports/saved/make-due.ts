import { USER_STATUS, type UsageReport } from "@fairway/wire";
import { recordRawEvent } from "../../../events/record-event.ts";
import { seconds } from "../../../lib/clock.ts";
import { Refusal } from "../../../lib/refusal.ts";
import type { Logger } from "../../../observability/log.ts";
import type { Database } from "../../../storage/database.ts";
import type { RawTransaction } from "../../../storage/engines/raw.ts";
import { SETTLE_SECONDS, type ReportDeps } from "../build-report.ts";
import { findNextRun, findSpan } from "./calendar.ts";
import { makeReport, type Reader } from "./make-report.ts";
import { readCadence, readStoredQuestion, type SavedReportRow } from "./store.ts";

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
  const report = await makeFor(row, span, deps);
  const next = findNextRun(schedule, row.next_at);
  const { raw } = database;
  return raw.transaction(async (tx) => {
    await confirm(tx);
    const moving = "update saved_reports set next_at = ?, sent_at = ? where id = ? and next_at = ?";
    const moved = await tx.run(moving, [next, seconds(clock), row.id, row.next_at]);
    if (moved === 0 || report === undefined) return false;
    await recordRawEvent(tx, raw.kind, {
      type: "report.ready",
      atMs: clock.now(),
      userId: row.user_id,
      accountId: row.user_id,
      dedupKey: `report.ready:${row.id}:${span.start}:${span.end}`,
      data: { id: row.id, name: row.name, ...describe(report) },
    });
    return true;
  });
}

function describe({ start, end, total, rows }: UsageReport) {
  const { calls, errors, quota, cost_usd } = total;
  return { period_start: start, period_end: end, calls, errors, quota, cost_usd, rows: rows.length };
}

/** Returns undefined for an owner who is off, or who must not ask this any more. */
async function makeFor(
  row: SavedReportRow,
  span: { readonly start: number; readonly end: number },
  deps: DueReportsDeps,
): Promise<UsageReport | undefined> {
  const reader = await findReader(row.user_id, deps);
  if (!reader) return undefined;
  try {
    return await makeReport(readStoredQuestion(row), { reader, ...span }, deps);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    deps.log.warn("a scheduled report cannot be made", { report: row.id, user: row.user_id, error });
    return undefined;
  }
}

async function findReader(id: number, { database }: DueReportsDeps): Promise<Reader | undefined> {
  const people = database.db.selectFrom("users").select(["id", "role"]).where("id", "=", id);
  const on = people.where("status", "=", USER_STATUS.enabled).where("deleted_at", "is", null);
  const person = await on.executeTakeFirst();
  return person && { userId: person.id, role: person.role };
}
