import { list } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { parseObject } from "../../lib/text/json.ts";
import type { TaskCall, TaskDeps } from "../types.ts";
import { decoded } from "../segment.ts";
import { taskView } from "../store.ts";
import { findSong, findSongs } from "./store.ts";
import { SongError, submitSong } from "./submit.ts";

export interface SongAnswer {
  readonly status: number;
  readonly body: unknown;
}

const MAX_IDS = 500;

/** Answers one call behind `/suno/`; undefined for a path that does not exist. Throws AppError. */
export async function handleSong(
  call: TaskCall,
  { method, path }: { readonly method: string; readonly path: string },
  deps: TaskDeps,
): Promise<SongAnswer | undefined> {
  const submitted = method === "POST" ? /^submit\/([A-Za-z-]{1,40})$/.exec(path)?.[1] : undefined;
  const fetched = method === "GET" ? /^fetch\/([^/]+)$/.exec(path)?.[1] : undefined;
  try {
    if (submitted !== undefined)
      return { status: 200, body: await submitSong(call, submitted, await deps.readBody(call.request), deps) };
    if (method === "POST" && path === "fetch") return success(await many(call, deps));
    return fetched === undefined ? undefined : success(await viewSong(call, decoded(fetched), deps));
  } catch (error) {
    if (!(error instanceof SongError)) throw error;
    return { status: error.status, body: { code: error.code, message: error.message, data: null } };
  }
}

async function many(call: TaskCall, deps: TaskDeps): Promise<JsonObject[]> {
  const body = parseObject((await deps.readBody(call.request)).toString("utf8")) as JsonObject | undefined;
  if (!body) throw new SongError("invalid_request", 400, "The body is not a JSON object.");
  const ids = list(body, "ids").filter((id) => typeof id === "string");
  return (await findSongs(deps, call.caller.userId, ids.slice(0, MAX_IDS))).map(taskView);
}

async function viewSong(call: TaskCall, id: string, deps: TaskDeps): Promise<JsonObject> {
  const row = await findSong(deps, call.caller.userId, id);
  if (!row) throw new SongError("task_not_exist", 400, "The task does not exist.");
  return taskView(row);
}

function success(data: unknown): SongAnswer {
  return { status: 200, body: { code: "success", message: "", data } };
}
