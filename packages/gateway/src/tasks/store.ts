import type { Insertable, Selectable } from "kysely";
import type { JsonObject, JsonValue } from "../dialects/core/types.ts";
import { seconds } from "../lib/clock.ts";
import type { MadeIdRules } from "../providers/core/task-ids.ts";
import type { TaskNews } from "../providers/core/video.ts";
import type { RawTransaction } from "../storage/engines/raw.ts";
import type { TaskTable } from "../storage/tables/schema.ts";
import type { TaskTarget } from "./channels.ts";
import { failTask } from "./finish.ts";
import { NO_REASON, recordTaskEnd } from "./record-end.ts";
import type { TaskMoney } from "./money.ts";
import type { PollDeps, TaskCall, TaskDeps } from "./types.ts";

export type AsyncRow = Selectable<TaskTable>;

const DONE = "100%";
const MAX_OPEN = 500;
const LONGEST_SECONDS = 86_400;

const STATUSES: ReadonlySet<string> = new Set([
  "NOT_START",
  "SUBMITTED",
  "QUEUED",
  "IN_PROGRESS",
  "SUCCESS",
  "FAILURE",
]);

/** Tasks of one user on one platform, or on any. */
export interface TaskOwner {
  readonly userId: number;
  readonly platform?: string | undefined;
}

export function findTask(deps: PollDeps, owner: TaskOwner, id: string): Promise<AsyncRow | undefined> {
  return selectTasks(deps, owner).where("task_id", "=", id).limit(1).executeTakeFirst();
}

export function findTasks(deps: PollDeps, owner: TaskOwner, ids: readonly string[]): Promise<AsyncRow[]> {
  return ids.length === 0 ? Promise.resolve([]) : selectTasks(deps, owner).where("task_id", "in", ids).execute();
}

function selectTasks({ database: { db } }: Pick<PollDeps, "database">, { userId, platform }: TaskOwner) {
  const rows = db.selectFrom("tasks").selectAll().where("user_id", "=", userId);
  return (platform === undefined ? rows : rows.where("platform", "=", platform)).orderBy("id", "desc");
}

/** Ids that can be searched for in the reports without escaping. */
const SEARCHED = /^[\w.:~-]{1,191}$/;
const MAX_SEARCHED = 500;

/** Returns the channels of those ids that name a task of the user, or something that such a task produced. */
export async function findOwnIds(
  deps: Pick<PollDeps, "database">,
  owner: TaskOwner,
  ids: readonly string[],
  made: MadeIdRules["made"],
): Promise<ReadonlyMap<string, number>> {
  const rows = await selectTasks(deps, owner)
    .where((row) =>
      row.or([
        row("task_id", "in", ids),
        ...ids.filter((id) => SEARCHED.test(id)).map((id) => row("data", "like", `%"${id}"%`)),
      ]),
    )
    .limit(MAX_SEARCHED)
    .execute();
  const found = new Map<string, number>();
  // The newest row comes first, so it is written last.
  for (const { task_id, channel_id, data } of rows.toReversed())
    for (const id of [task_id, ...(data === "" ? [] : made(JSON.parse(data) as JsonValue))])
      if (ids.includes(id)) found.set(id, channel_id);
  return found;
}

/** Returns a task as lists and the general protocols show it. */
export function taskView(row: AsyncRow): JsonObject {
  const { task_id, action, status, fail_reason, submit_time, start_time, finish_time, progress } = row;
  const data = row.data === "" ? null : (JSON.parse(row.data) as JsonValue);
  return { task_id, action, status, fail_reason, submit_time, start_time, finish_time, progress, data };
}

export interface AcceptedTask {
  readonly call: TaskCall;
  readonly target: TaskTarget;
  readonly money: TaskMoney;
  readonly id: string;
  readonly platform: string;
  readonly action: string;
  readonly status: string;
  /** The request's properties; `input` takes precedence. */
  readonly properties: JsonObject;
  readonly data: JsonValue;
}

/** The charge is certain before the task is in the table, and becomes final after that. */
export async function acceptTask(accepted: AcceptedTask, deps: TaskDeps): Promise<void> {
  const { target, money, action, id } = accepted;
  const detail = `action ${action}, task ${id}`;
  await money.promise(target, detail);
  await deps.database.db.insertInto("tasks").values(newRow(accepted, deps)).execute();
  await money.settle(target, detail);
}

function newRow(accepted: AcceptedTask, deps: TaskDeps): Insertable<Omit<TaskTable, "id">> {
  const { call, target, money, id, platform, action, status, properties, data } = accepted;
  const quota = money.calculateQuota(target);
  const now = seconds(deps.clock);
  return {
    created_at: now,
    updated_at: now,
    task_id: id.slice(0, 191),
    platform,
    user_id: call.caller.userId,
    channel_id: target.channel.id,
    quota,
    action,
    status,
    fail_reason: "",
    submit_time: now,
    start_time: 0,
    finish_time: 0,
    progress: "0%",
    properties: JSON.stringify(properties),
    data: JSON.stringify(data),
    token_id: call.caller.tokenId,
    request_id: call.requestId,
    charged: quota > 0 ? 1 : 0,
    refunded: 0,
  };
}

/** Asks about the open tasks of one channel; the channel is undefined if it was deleted. */
export type PollChannel = (channelId: number, rows: readonly AsyncRow[]) => Promise<void>;

/** Follows every open task of a platform. Safe on several replicas: a final state is written once. */
export async function pollTasks(
  platforms: readonly string[],
  pollChannel: PollChannel,
  deps: PollDeps,
  signal?: AbortSignal,
): Promise<void> {
  if (platforms.length === 0) return;
  const open = await deps.database.db
    .selectFrom("tasks")
    .selectAll()
    .where("platform", "in", platforms)
    .where("progress", "!=", DONE)
    .orderBy("id")
    .limit(MAX_OPEN)
    .execute();
  for (const [channelId, rows] of Map.groupBy(open, (row) => row.channel_id)) {
    if (signal?.aborted) return;
    if (deps.snapshots.current().channels.has(channelId))
      await pollChannel(channelId, rows).catch((error: unknown) =>
        deps.log.warn("a task channel could not be asked", { channelId, error }),
      );
    for (const row of rows) await giveUp(row, deps);
  }
}

/** Fails tasks whose result can no longer arrive; a row that ended in the meantime does not change. */
async function giveUp(row: AsyncRow, deps: PollDeps): Promise<void> {
  if (!deps.snapshots.current().channels.has(row.channel_id))
    await updateTask(row, failure("The channel of the task does not exist any more."), deps);
  else if (seconds(deps.clock) - row.submit_time > LONGEST_SECONDS)
    await updateTask(row, failure("The task timed out."), deps);
}

function failure(failReason: string): TaskNews {
  return { status: "FAILURE", failReason };
}

type TaskPatch = Pick<AsyncRow, "status" | "fail_reason" | "start_time" | "finish_time" | "progress" | "data">;

/** Writes the news; a row that has ended does not change, and a failure is refunded. */
export async function updateTask(row: AsyncRow, news: TaskNews, deps: PollDeps): Promise<void> {
  const patch = buildPatch(row, news);
  const end = { table: "tasks", taskId: row.task_id, action: row.action, reason: "" } as const;
  if (patch.status === "FAILURE") {
    const reason = patch.fail_reason || NO_REASON;
    return failTask(row, { ...end, reason }, (tx) => write(tx, row, patch, deps), deps);
  }
  const isNew = (Object.keys(patch) as (keyof TaskPatch)[]).some((name) => patch[name] !== row[name]);
  if (!isNew) return;
  if (patch.progress !== DONE) {
    await write(deps.database.raw, row, patch, deps);
    return;
  }
  await deps.database.raw.transaction(async (tx) => {
    if (await write(tx, row, patch, deps)) await recordTaskEnd(tx, row, end, deps);
  });
}

function buildPatch(row: AsyncRow, news: TaskNews): TaskPatch {
  const status = news.status ? (STATUSES.has(news.status) ? news.status : "UNKNOWN") : row.status;
  const isDone = status === "SUCCESS" || status === "FAILURE";
  return {
    status,
    fail_reason: news.failReason || row.fail_reason,
    start_time: news.startTime || row.start_time,
    finish_time: news.finishTime || row.finish_time,
    progress: isDone ? DONE : news.progress && news.progress !== DONE ? news.progress.slice(0, 20) : row.progress,
    data: news.data === undefined || news.data === null ? row.data : JSON.stringify(news.data),
  };
}

async function write(tx: RawTransaction, row: AsyncRow, patch: TaskPatch, { clock }: PollDeps): Promise<boolean> {
  const columns = Object.keys(patch) as (keyof TaskPatch)[];
  const sql = `update tasks set ${columns.map((name) => `${name} = ?`).join(", ")}, updated_at = ? where id = ? and progress <> '100%'`;
  return (await tx.run(sql, [...columns.map((name) => patch[name]), seconds(clock), row.id])) > 0;
}
