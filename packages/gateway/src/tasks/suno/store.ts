import type { Selectable } from "kysely";
import { isObject, list, text } from "../../dialects/read.ts";
import type { JsonObject, JsonValue } from "../../dialects/types.ts";
import { seconds } from "../../lib/clock.ts";
import type { RawTransaction } from "../../storage/raw.ts";
import type { TaskTable } from "../../storage/schema.ts";
import { failTask } from "../finish.ts";
import type { PollDeps } from "../types.ts";

export type SongRow = Selectable<TaskTable>;

export const PLATFORM = "suno";

const DONE = "100%";
const MAX_OPEN = 500;
const POLL_MS = 15_000;
const LONGEST_SECONDS = 86_400;
const STATUSES: ReadonlySet<string> = new Set([
  "NOT_START",
  "SUBMITTED",
  "QUEUED",
  "IN_PROGRESS",
  "SUCCESS",
  "FAILURE",
]);

export function findSong({ database }: PollDeps, userId: number, id: string): Promise<SongRow | undefined> {
  return songs(database, userId).where("task_id", "=", id).limit(1).executeTakeFirst();
}

export function findSongs({ database }: PollDeps, userId: number, ids: readonly string[]): Promise<SongRow[]> {
  return ids.length === 0 ? Promise.resolve([]) : songs(database, userId).where("task_id", "in", ids).execute();
}

function songs({ db }: PollDeps["database"], userId: number) {
  const rows = db.selectFrom("tasks").selectAll().where("platform", "=", PLATFORM);
  return rows.where("user_id", "=", userId).orderBy("id", "desc");
}

/** A task as the protocol shows it. */
export function songView(row: SongRow): JsonObject {
  const { task_id, action, status, fail_reason, submit_time, start_time, finish_time, progress } = row;
  const data = row.data === "" ? null : (JSON.parse(row.data) as JsonValue);
  return { task_id, action, status, fail_reason, submit_time, start_time, finish_time, progress, data };
}

/** Asks the upstreams about every open song. Safe on several replicas: a final state is written once. */
export async function pollSongs(deps: PollDeps, signal?: AbortSignal): Promise<void> {
  const open = await deps.database.db
    .selectFrom("tasks")
    .selectAll()
    .where("platform", "=", PLATFORM)
    .where("progress", "!=", DONE)
    .orderBy("id")
    .limit(MAX_OPEN)
    .execute();
  for (const [channelId, rows] of Map.groupBy(open, (row) => row.channel_id)) {
    if (signal?.aborted) return;
    await pollChannel(channelId, rows, deps).catch((error: unknown) =>
      deps.log.warn("a song channel could not be asked", { channelId, error }),
    );
  }
}

async function pollChannel(channelId: number, rows: readonly SongRow[], deps: PollDeps): Promise<void> {
  const channel = deps.snapshots.current().channels.get(channelId);
  const body = Buffer.from(JSON.stringify({ ids: rows.map((row) => row.task_id) }));
  const answer = channel
    ? await deps
        .upstream(channel, { method: "POST", path: "/suno/fetch", body, timeoutMs: POLL_MS })
        .catch((error: unknown) => {
          deps.log.warn("a song channel could not be asked", { channelId, error });
          return undefined;
        })
    : undefined;
  const isRead = answer?.status === 200 && isObject(answer.json);
  const news = new Map(
    (isRead ? list(answer.json as JsonObject, "data").filter(isObject) : []).map((item) => [
      text(item, "task_id") ?? "",
      item,
    ]),
  );
  for (const row of rows) {
    const item = news.get(row.task_id);
    if (item) await updateSong(row, item, deps);
    const isLate = seconds(deps.clock) - row.submit_time > LONGEST_SECONDS;
    if (!channel) await updateSong(row, failure("The channel of the task does not exist any more."), deps);
    else if (isLate) await updateSong(row, failure("The task timed out."), deps);
  }
}

function failure(reason: string): JsonObject {
  return { status: "FAILURE", fail_reason: reason };
}

type SongPatch = Pick<SongRow, "status" | "fail_reason" | "start_time" | "finish_time" | "progress" | "data">;

async function updateSong(row: SongRow, news: JsonObject, deps: PollDeps): Promise<void> {
  const patch = patchOf(row, news);
  if (patch.status === "FAILURE") return failTask(row, "tasks", (tx) => write(tx, row, patch, deps), deps);
  const isNew = (Object.keys(patch) as (keyof SongPatch)[]).some((name) => patch[name] !== row[name]);
  if (isNew) await write(deps.database.raw, row, patch, deps);
}

function patchOf(row: SongRow, news: JsonObject): SongPatch {
  const status = statusOf(news) ?? row.status;
  const isDone = status === "SUCCESS" || status === "FAILURE";
  const progress = text(news, "progress");
  return {
    status,
    fail_reason: text(news, "fail_reason") || row.fail_reason,
    start_time: time(news["start_time"]) || row.start_time,
    finish_time: time(news["finish_time"]) || row.finish_time,
    progress: isDone ? DONE : progress && progress !== DONE ? progress.slice(0, 20) : row.progress,
    data: news["data"] === undefined || news["data"] === null ? row.data : JSON.stringify(news["data"]),
  };
}

async function write(tx: RawTransaction, row: SongRow, patch: SongPatch, { clock }: PollDeps): Promise<boolean> {
  const columns = Object.keys(patch) as (keyof SongPatch)[];
  const sql = `update tasks set ${columns.map((name) => `${name} = ?`).join(", ")}, updated_at = ? where id = ? and progress <> '100%'`;
  return (await tx.run(sql, [...columns.map((name) => patch[name]), seconds(clock), row.id])) > 0;
}

function statusOf(news: JsonObject): string | undefined {
  const named = text(news, "status");
  if (named === undefined || named === "") return undefined;
  return STATUSES.has(named) ? named : "UNKNOWN";
}

function time(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
