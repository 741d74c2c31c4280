import { isObject } from "../../dialects/core/read.ts";
import { pollTasks, updateTask, type AsyncRow } from "../store.ts";
import type { PollDeps } from "../types.ts";
import { videoVendor, videoVendors } from "./vendors.ts";

const TIMEOUT_MS = 15_000;
/** Calls to one upstream at the same time. */
const AT_ONCE = 4;

/** Asks the upstreams about every open video. */
export function pollVideos(deps: PollDeps, signal?: AbortSignal): Promise<void> {
  const platforms = videoVendors.map(({ provider }) => provider.id);
  return pollTasks(platforms, (_channel, rows) => askAll(rows, deps, signal), deps, signal);
}

async function askAll(rows: readonly AsyncRow[], deps: PollDeps, signal: AbortSignal | undefined): Promise<void> {
  const waiting = rows.values();
  const work = async () => {
    for (const row of waiting) {
      if (signal?.aborted) return;
      await poll(row, deps).catch((error: unknown) =>
        deps.log.warn("a video could not be asked about", { channelId: row.channel_id, taskId: row.task_id, error }),
      );
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, rows.length) }, work));
}

async function poll(row: AsyncRow, deps: PollDeps): Promise<void> {
  const vendor = videoVendor(row.platform);
  const channel = deps.snapshots.current().channels.get(row.channel_id);
  if (!vendor || !channel) return;
  const path = `${vendor.videos.path(row.action)}/${encodeURIComponent(row.task_id)}`;
  const { status, json } = await deps.upstream(channel, { method: "GET", path, timeoutMs: TIMEOUT_MS });
  const news = status === 200 && isObject(json) ? vendor.videos.news(json) : undefined;
  if (news) await updateTask(row, news, deps);
}
