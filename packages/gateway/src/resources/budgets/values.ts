import { ANY_VALUE, type Budget } from "@fairway/wire";
import { sql } from "kysely";
import type { Budgets } from "../../billing/budgets/budgets.ts";
import { findWindow, HOUR_SECONDS, isCalendar } from "../../billing/budgets/window.ts";
import { inChunks } from "../../lib/chunks.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { Database } from "../../storage/database.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { beginningWith, containing, like } from "../../storage/like.ts";
import { bump } from "../../storage/revisions.ts";
import { inList } from "../../storage/statements.ts";
import type { BudgetRow } from "./view.ts";

/** Values of a template that one answer has. */
const MAX_LISTED = 100;
const REMOVED_AT_ONCE = 500;
const UNUSED = "template_id = ? and held = 0 and window_start < ? and created_at < ?";

/** Returns the values that have used most of a template. Those whose window is over have used nothing. */
export async function listValueRows({ db }: Database, template: Budget, keyword: string): Promise<BudgetRow[]> {
  const { id, subject, window_start: start } = template;
  const prefix = beginningWith(subject.slice(0, -ANY_VALUE.length));
  const used = sql`case when window_start < ${start} then 0 else used end`;
  const rows = db
    .selectFrom("budgets")
    .selectAll()
    .where("template_id", "=", id)
    .where(like("subject", prefix.slice(0, -1) + containing(keyword)))
    .orderBy(used, "desc")
    .orderBy("id")
    .limit(MAX_LISTED);
  return (await rows.execute()) as BudgetRow[];
}

export interface PruneDeps {
  readonly database: Pick<Database, "raw">;
  readonly budgets: Pick<Budgets, "heldElsewhere">;
  readonly clock: Clock;
}

/**
 * Deletes the budgets of values that were unused in two windows, so that new values find room. Returns how many; the
 * replicas have to read the budgets again.
 */
export async function pruneBudgetValues(
  { database: { raw }, budgets, clock }: PruneDeps,
  confirm: (tx: RawTransaction) => Promise<void>,
): Promise<number> {
  const templates = await raw.rows<BudgetRow>(
    "select * from budgets where id in (select template_id from budgets where template_id <> 0)",
    [],
  );
  let removed = 0;
  for (const template of templates) {
    const before = findUnusedSince(template, clock);
    const sql = `select id from budgets where ${UNUSED} order by id`;
    const rows = await raw.rows<{ id: number }>(sql, [template.id, before, before]);
    const held = rows.length === 0 ? new Map() : await budgets.heldElsewhere();
    const ids = rows.map(({ id }) => Number(id)).filter((id) => !held.has(id));
    for (const some of inChunks(ids, REMOVED_AT_ONCE))
      removed += await removeUnused(raw, { template: template.id, ids: some, before }, confirm);
  }
  return removed;
}

/** Returns the time before which a value must have been used last: the begin of the window before this one. */
function findUnusedSince(template: BudgetRow, clock: Clock): number {
  const { period, length } = template;
  if (period === "total") return 0;
  if (!isCalendar(period)) return seconds(clock) - 2 * length * HOUR_SECONDS;
  const { start } = findWindow(template, clock.now());
  return findWindow(template, start * 1000 - 1).start;
}

interface Unused {
  readonly template: number;
  readonly ids: readonly number[];
  /** Epoch seconds. */
  readonly before: number;
}

/** What a call has used meanwhile stays. */
function removeUnused(
  raw: Database["raw"],
  { template, ids, before }: Unused,
  confirm: (tx: RawTransaction) => Promise<void>,
): Promise<number> {
  const { marks, values } = inList(ids);
  return raw.transaction(async (tx) => {
    await confirm(tx);
    await bump(tx, raw.kind, "options");
    const removing = `delete from budgets where ${UNUSED} and id in ${marks}`;
    const removed = await tx.run(removing, [template, before, before, ...values]);
    for (const table of ["budget_holds", "budget_reaped"])
      await tx.run(
        `delete from ${table} where budget_id in ${marks} and budget_id not in (select id from budgets)`,
        values,
      );
    return removed;
  });
}
