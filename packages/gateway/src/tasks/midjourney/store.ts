import type { Insertable } from "kysely";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import type { MidjourneyTable } from "../../storage/tables/schema.ts";
import { failTask } from "../finish.ts";
import { NO_REASON, recordTaskEnd, type TaskEnd } from "../record-end.ts";
import type { PollDeps } from "../types.ts";
import { applyNews, DONE, type DrawingPatch } from "./apply.ts";
import type { DrawingRow } from "./view.ts";
import type { JsonObject } from "../../dialects/core/types.ts";

export type NewDrawing = Insertable<Omit<MidjourneyTable, "id">>;

const MAX_OPEN = 5_000;
/** Codes of submissions that the upstream accepted. */
const ACCEPTED = [1, 21, 22];

/** Returns the newest row of a task of this user. */
export function findDrawing({ database }: PollDeps, userId: number, id: string): Promise<DrawingRow | undefined> {
  return database.db
    .selectFrom("midjourneys")
    .selectAll()
    .where("mj_id", "=", id)
    .where("user_id", "=", userId)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
}

export function findDrawings({ database }: PollDeps, userId: number, ids: readonly string[]): Promise<DrawingRow[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return database.db
    .selectFrom("midjourneys")
    .selectAll()
    .where("user_id", "=", userId)
    .where("mj_id", "in", ids)
    .orderBy("id")
    .execute();
}

/** Ids that can be searched for in the buttons without escaping. */
const SEARCHED = /^[\w.~-]{1,191}$/;
const MAX_SEARCHED = 500;

/**
 * Returns drawings of this user that have one of the ids, or a button that seems to name it; the newest one is last.
 */
export async function findNamedDrawings(
  { database }: Pick<PollDeps, "database">,
  userId: number,
  ids: readonly string[],
): Promise<DrawingRow[]> {
  const rows = await database.db
    .selectFrom("midjourneys")
    .selectAll()
    .where("user_id", "=", userId)
    .where((row) =>
      row.or([
        row("mj_id", "in", ids),
        ...ids.filter((id) => SEARCHED.test(id)).map((id) => row("buttons", "like", `%::${id}%`)),
      ]),
    )
    .orderBy("id", "desc")
    .limit(MAX_SEARCHED)
    .execute();
  return rows.toReversed();
}

/** Tasks without a final status. */
export function openDrawings({ database }: PollDeps): Promise<DrawingRow[]> {
  return database.db
    .selectFrom("midjourneys")
    .selectAll()
    .where("progress", "!=", DONE)
    .where("code", "in", ACCEPTED)
    .orderBy("id")
    .limit(MAX_OPEN)
    .execute();
}

/** A modal continues under the id of the task that requested it; everything else is a new row. */
export async function saveDrawing({ database }: PollDeps, row: NewDrawing): Promise<void> {
  if (row.action === "MODAL" && row.mj_id !== "") {
    const { numUpdatedRows } = await database.db
      .updateTable("midjourneys")
      .set(row)
      .where("mj_id", "=", row.mj_id)
      .where("user_id", "=", row.user_id)
      .where("charged", "=", 0)
      .executeTakeFirst();
    if (numUpdatedRows > 0n) return;
  }
  await database.db.insertInto("midjourneys").values(row).execute();
}

/** Writes the news; a row that has ended does not change, and a failure is refunded. */
export async function updateDrawing(row: DrawingRow, news: JsonObject, deps: PollDeps): Promise<void> {
  const patch = applyNews(row, news);
  const end = describeEnd(row, "");
  if (patch.status === "FAILURE") {
    const reason = patch.fail_reason || NO_REASON;
    return failTask(row, { ...end, reason }, (tx) => write(tx, row, patch), deps);
  }
  const isNew = (Object.keys(patch) as (keyof DrawingPatch)[]).some((name) => patch[name] !== row[name]);
  if (!isNew) return;
  if (patch.progress !== DONE) {
    await write(deps.database.raw, row, patch);
    return;
  }
  await deps.database.raw.transaction(async (tx) => {
    if (await write(tx, row, patch)) await recordTaskEnd(tx, row, end, deps);
  });
}

function describeEnd({ mj_id: taskId, action }: DrawingRow, reason: string): TaskEnd {
  return { table: "midjourneys", taskId, action, reason };
}

/** Fails a task that its upstream does not report. */
export function failDrawing(row: DrawingRow, reason: string, deps: PollDeps): Promise<void> {
  return failTask(
    row,
    describeEnd(row, reason || NO_REASON),
    async (tx) =>
      (await tx.run(
        "update midjourneys set status = 'FAILURE', progress = '100%', fail_reason = ? where id = ? and progress <> '100%'",
        [reason, row.id],
      )) > 0,
    deps,
  );
}

async function write(tx: RawTransaction, row: DrawingRow, patch: DrawingPatch): Promise<boolean> {
  const columns = Object.keys(patch) as (keyof DrawingPatch)[];
  const sql = `update midjourneys set ${columns.map((name) => `${name} = ?`).join(", ")} where id = ? and progress <> '100%'`;
  return (await tx.run(sql, [...columns.map((name) => patch[name]), row.id])) > 0;
}
