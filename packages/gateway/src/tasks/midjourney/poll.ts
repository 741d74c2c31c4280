import { isObject, text } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import type { PollDeps } from "../types.ts";
import { readId, timedOut } from "./apply.ts";
import { failDrawing, openDrawings, updateDrawing } from "./store.ts";
import type { DrawingRow } from "./view.ts";

const MAX_IDS = 100;
const TIMEOUT_MS = 15_000;

/** Asks the upstreams about every open task. Safe on several replicas: a final state is written once. */
export async function pollDrawings(deps: PollDeps, signal?: AbortSignal): Promise<void> {
  const byChannel = Map.groupBy(await openDrawings(deps), (row) => row.channel_id);
  for (const [channelId, rows] of byChannel) {
    if (signal?.aborted) return;
    await pollChannel(channelId, rows, deps).catch((error: unknown) =>
      deps.log.warn("a drawing channel could not be asked", { channelId, error }),
    );
  }
}

async function pollChannel(channelId: number, rows: readonly DrawingRow[], deps: PollDeps): Promise<void> {
  const lost = rows.filter((row) => row.mj_id === "");
  for (const row of lost) await failDrawing(row, "The upstream gave the task no id.", deps);
  const known = rows.filter((row) => row.mj_id !== "");
  const channel = deps.snapshots.current().channels.get(channelId);
  if (!channel) {
    for (const row of known) await failDrawing(row, "The channel of the task does not exist any more.", deps);
    return;
  }
  for (let at = 0; at < known.length; at += MAX_IDS) {
    const some = known.slice(at, at + MAX_IDS);
    const ids = [...new Set(some.map((row) => row.mj_id))];
    const answer = await deps
      .upstream(channel, {
        method: "POST",
        path: "/mj/task/list-by-condition",
        body: Buffer.from(JSON.stringify({ ids })),
        timeoutMs: TIMEOUT_MS,
      })
      .catch((error: unknown) => {
        deps.log.warn("a drawing channel could not be asked", { channelId, error });
        return undefined;
      });
    const news = answer?.status === 200 && Array.isArray(answer.json) ? answer.json.filter(isObject) : [];
    await applyAll(some, news, deps);
  }
}

async function applyAll(rows: readonly DrawingRow[], news: readonly JsonObject[], deps: PollDeps): Promise<void> {
  const byId = new Map(news.map((item) => [readId(item), item]));
  for (const row of rows) {
    const item = byId.get(row.mj_id);
    const isOver = item !== undefined && ["SUCCESS", "FAILURE"].includes(text(item, "status") ?? "");
    if (item && (isOver || !timedOut(row, deps.clock.now()))) await updateDrawing(row, item, deps);
    else if (timedOut(row, deps.clock.now())) {
      if (item) await updateDrawing(row, { ...item, status: "FAILURE", failReason: "The task timed out." }, deps);
      else await failDrawing(row, "The task timed out.", deps);
    }
  }
}
