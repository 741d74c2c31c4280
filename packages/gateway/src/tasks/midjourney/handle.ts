import { object } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import { parseObject } from "../../lib/text/json.ts";
import { decoded } from "../segment.ts";
import type { TaskCall, TaskDeps } from "../types.ts";
import { DrawingError, readIds, isSubmission } from "./actions.ts";
import { findDrawing, findDrawings } from "./store.ts";
import { submitDrawing } from "./submit.ts";
import { drawingView } from "./view.ts";

export interface DrawingAnswer {
  readonly status: number;
  readonly body: unknown;
}

const SEED_MS = 30_000;
const TASK = /^task\/([^/]+)\/(fetch|image-seed)$/;

/** Answers one call behind `/mj/`; undefined for a path that does not exist. Throws AppError. */
export async function handleDrawing(
  call: TaskCall,
  { method, path, mode }: { readonly method: string; readonly path: string; readonly mode: string | undefined },
  deps: TaskDeps,
): Promise<DrawingAnswer | undefined> {
  try {
    if (method === "POST" && isSubmission(path)) {
      const bytes = await deps.readBody(call.request);
      return await submitDrawing(call, { path, mode, bytes, body: parseBody(bytes) }, deps);
    }
    if (method === "POST" && path === "task/list-by-condition") return await list(call, deps);
    const task = method === "GET" ? TASK.exec(path) : null;
    if (!task) return undefined;
    const id = decoded(task[1] ?? "");
    return task[2] === "fetch" ? await fetchOne(call, id, deps) : await seed(call, id, deps);
  } catch (error) {
    if (!(error instanceof DrawingError)) throw error;
    return { status: error.status, body: { description: error.message, type: "upstream_error", code: error.code } };
  }
}

function parseBody(bytes: Buffer): JsonObject {
  const body = parseObject(bytes.toString("utf8"));
  if (!body) throw new DrawingError("bind_request_body_failed");
  return object({ body }, "body") ?? {};
}

async function list(call: TaskCall, deps: TaskDeps): Promise<DrawingAnswer> {
  const ids = readIds(parseBody(await deps.readBody(call.request)));
  const rows = await findDrawings(deps, call.caller.userId, ids);
  const newest = new Map(rows.map((row) => [row.mj_id, row]));
  return { status: 200, body: [...newest.values()].map((row) => drawingView(row, deps)) };
}

async function fetchOne(call: TaskCall, id: string, deps: TaskDeps): Promise<DrawingAnswer> {
  const row = await findDrawing(deps, call.caller.userId, id);
  if (!row) throw new DrawingError("task_no_found");
  return { status: 200, body: drawingView(row, deps) };
}

async function seed(call: TaskCall, id: string, deps: TaskDeps): Promise<DrawingAnswer> {
  const row = await findDrawing(deps, call.caller.userId, id);
  if (!row) throw new DrawingError("task_no_found");
  const channel = deps.snapshots.current().channels.get(row.channel_id);
  if (!channel) throw new DrawingError("get_channel_info_failed");
  if (channel.status !== 1) throw new DrawingError("channel_disabled");
  const path = `/mj/task/${encodeURIComponent(id)}/image-seed`;
  const answer = await deps.upstream(channel, { method: "GET", path, timeoutMs: SEED_MS }).catch((cause: unknown) => {
    throw new AppError("upstream_connect_failed", { cause });
  });
  if (answer.json === undefined) throw new DrawingError("unmarshal_response_body_failed", 502);
  return { status: answer.status, body: answer.json };
}
