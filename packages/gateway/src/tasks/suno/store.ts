import { isObject, list, text } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import type { MadeIdRules } from "../../providers/core/task-ids.ts";
import type { TaskNews } from "../../providers/core/video.ts";
import type { TaskIdSource } from "../own-ids.ts";
import { findOwnIds, findTask, findTasks, pollTasks, updateTask, type AsyncRow } from "../store.ts";
import type { PollDeps } from "../types.ts";

export const PLATFORM = "suno";

const POLL_MS = 15_000;

export function findSong(deps: PollDeps, userId: number, id: string): Promise<AsyncRow | undefined> {
  return findTask(deps, { userId, platform: PLATFORM }, id);
}

export function findSongs(deps: PollDeps, userId: number, ids: readonly string[]): Promise<AsyncRow[]> {
  return findTasks(deps, { userId, platform: PLATFORM }, ids);
}

/** Clips and lyrics have their own ids. */
const IDS: MadeIdRules = {
  made: (report) =>
    (Array.isArray(report) ? report : [report])
      .filter(isObject)
      .flatMap((clip) => [text(clip, "id") ?? "", text(clip, "clip_id") ?? ""]),
};

/** Songs, and their clips, that a request may continue. */
export function songIds(deps: PollDeps, unknown: () => Error): TaskIdSource {
  return {
    rules: IDS,
    find: (userId, ids) => findOwnIds(deps, { userId, platform: PLATFORM }, ids, IDS.made),
    unknown,
  };
}

/** Asks the upstreams about every open song. */
export function pollSongs(deps: PollDeps, signal?: AbortSignal): Promise<void> {
  return pollTasks([PLATFORM], (channelId, rows) => askChannel(channelId, rows, deps), deps, signal);
}

/** Asks about all songs of a channel in one call. */
async function askChannel(channelId: number, rows: readonly AsyncRow[], deps: PollDeps): Promise<void> {
  const channel = deps.snapshots.current().channels.get(channelId);
  if (!channel) return;
  const body = Buffer.from(JSON.stringify({ ids: rows.map((row) => row.task_id) }));
  const answer = await deps.upstream(channel, { method: "POST", path: "/suno/fetch", body, timeoutMs: POLL_MS });
  const isRead = answer.status === 200 && isObject(answer.json);
  const items = isRead ? list(answer.json as JsonObject, "data").filter(isObject) : [];
  const news = new Map(items.map((item) => [text(item, "task_id") ?? "", item]));
  for (const row of rows) {
    const item = news.get(row.task_id);
    if (item) await updateTask(row, toTaskNews(item), deps);
  }
}

/** A reason to fail means that the task failed, whatever the status still says. */
function toTaskNews(item: JsonObject): TaskNews {
  const status = text(item, "status");
  const failReason = text(item, "fail_reason");
  return {
    status: failReason && status !== "SUCCESS" ? "FAILURE" : status,
    failReason,
    startTime: time(item["start_time"]),
    finishTime: time(item["finish_time"]),
    progress: text(item, "progress"),
    data: item["data"],
  };
}

function time(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
