import { timingSafeEqual } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { JsonObject } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import type { TaskDeps } from "../types.ts";
import { readId } from "./apply.ts";
import { updateDrawing } from "./store.ts";
import { notifySignature } from "./submit.ts";
import { drawingView, type DrawingRow } from "./view.ts";

const TRIES = 3;
const PAUSE_MS = 1_000;

/** Accepts an upstream's report. The address authorizes the report; it reaches only the rows of that submission. */
export async function acceptNotification(
  query: URLSearchParams,
  readNews: () => Promise<JsonObject>,
  deps: TaskDeps,
): Promise<void> {
  const { options } = deps.snapshots.current();
  const isKnown = options.MjNotifyEnabled && isSame(query.get("t") ?? "", notifySignature(query, deps));
  if (!isKnown) throw new AppError("invalid_api_key");
  const news = await readNews();
  const id = readId(news);
  const find = () => findRow(query, id, deps);
  const row = await find();
  if (!row) return;
  await updateDrawing(row, news, deps);
  const hook = query.get("h") ?? "";
  const changed = hook === "" ? undefined : await find();
  if (changed) void notify(hook, drawingView(changed, deps), deps);
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function findRow(query: URLSearchParams, id: string, { database }: TaskDeps): Promise<DrawingRow | undefined> {
  return database.db
    .selectFrom("midjourneys")
    .selectAll()
    .where("mj_id", "=", id)
    .where("request_id", "=", query.get("r") ?? "")
    .where("channel_id", "=", Number(query.get("c")))
    .executeTakeFirst();
}

/** The client's own hook is treated like any other address that a client names. */
async function notify(hook: string, task: JsonObject, deps: TaskDeps): Promise<void> {
  for (let turn = 1; turn <= TRIES; turn++) {
    try {
      const headers = { "content-type": "application/json" };
      const { status, body } = await deps.fetcher.fetch({
        url: hook,
        method: "POST",
        headers,
        body: JSON.stringify(task),
      });
      for await (const _part of body);
      if (status < 500) return;
    } catch (error) {
      deps.log.info("a client's webhook could not be called", { error });
      if (error instanceof AppError && error.code === "unsafe_url") return;
    }
    await pause(PAUSE_MS * turn, undefined, { ref: false });
  }
}
