import { isObject } from "../../dialects/read.ts";
import type { JsonObject } from "../../dialects/types.ts";
import { AppError } from "../../lib/app-error.ts";
import { parseObject } from "../../lib/json.ts";
import { findTask, taskView, type AsyncRow } from "../store.ts";
import type { TaskCall, TaskDeps } from "../types.ts";
import { submitVideo, VideoError } from "./submit.ts";
import { videoVendor, videoVendors, type VideoVendor } from "./vendors.ts";

export interface VideoAnswer {
  readonly status: number;
  readonly body: unknown;
}

const GENERAL = /^\/v1\/video\/generations(?:\/([^/]+))?$/;
const NATIVE = /^\/([a-z0-9_]+)\/v1\/videos\/([a-z0-9-]+)(?:\/([^/]+))?$/;

/** Answers a video route; undefined for a path that does not exist. Throws AppError. */
export async function handleVideo(
  call: TaskCall,
  { method, path }: { readonly method: string; readonly path: string },
  deps: TaskDeps,
): Promise<VideoAnswer | undefined> {
  const general = GENERAL.exec(path);
  if (general) return answerGeneral(call, method, general[1], deps);
  const [, id = "", action = "", task] = NATIVE.exec(path) ?? [];
  const vendor = videoVendor(id);
  if (!vendor || !vendor.videos.actions.has(action)) return undefined;
  return answerNative(call, { vendor, action, method, task }, deps);
}

interface NativeCall {
  readonly vendor: VideoVendor;
  readonly action: string;
  readonly method: string;
  readonly task: string | undefined;
}

/** In the vendor's own protocol, errors of the upstream included. */
async function answerNative(
  call: TaskCall,
  { vendor, action, method, task }: NativeCall,
  deps: TaskDeps,
): Promise<VideoAnswer | undefined> {
  const { videos, provider } = vendor;
  if (method === "GET" && task !== undefined) {
    const row = await taskOf(call, task, provider.id, deps);
    const { status, fail_reason: failReason } = row;
    return {
      status: 200,
      body: videos.view({ id: row.task_id, status, failReason, data: dataOf(row) }, call.requestId),
    };
  }
  if (method !== "POST" || task !== undefined) return undefined;
  const body = await readJson(call, deps);
  try {
    const { answer } = await submitVideo(call, { vendors: [vendor], read: () => ({ action, body }) }, deps);
    return { status: 200, body: answer };
  } catch (error) {
    if (!(error instanceof VideoError)) throw error;
    const { status, message } = error.cause;
    return { status, body: videos.refusal({ code: error.code, status, message, requestId: call.requestId }) };
  }
}

/** One form for all vendors. */
async function answerGeneral(
  call: TaskCall,
  method: string,
  task: string | undefined,
  deps: TaskDeps,
): Promise<VideoAnswer | undefined> {
  if (method === "GET" && task !== undefined) {
    const row = await taskOf(call, task, undefined, deps);
    const [url = ""] = videoVendor(row.platform)?.videos.urls(dataOf(row)) ?? [];
    return { status: 200, body: { code: "success", message: "", data: { ...taskView(row), url } } };
  }
  if (method !== "POST" || task !== undefined) return undefined;
  const general = await readJson(call, deps);
  const { model } = general;
  if (typeof model !== "string" || model === "") throw new AppError("model_required", { param: "model" });
  try {
    const asked = { vendors: videoVendors, read: ({ videos }: VideoVendor) => videos.fromGeneral(general) };
    const { id, createdAt } = await submitVideo(call, asked, deps);
    return {
      status: 200,
      body: { id, task_id: id, object: "video", model, status: "queued", progress: 0, created_at: createdAt },
    };
  } catch (error) {
    throw error instanceof VideoError ? error.cause : error;
  }
}

async function taskOf(
  { caller }: TaskCall,
  task: string,
  platform: string | undefined,
  deps: TaskDeps,
): Promise<AsyncRow> {
  const id = decoded(task);
  const row = await findTask(deps, { userId: caller.userId, platform }, id);
  if (row && videoVendor(row.platform)) return row;
  throw new AppError("task_not_found", { values: { id: id.slice(0, 100) } });
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function dataOf(row: AsyncRow): JsonObject {
  const data = row.data === "" ? undefined : (JSON.parse(row.data) as unknown);
  return isObject(data) ? data : {};
}

async function readJson(call: TaskCall, deps: TaskDeps): Promise<JsonObject> {
  const body = parseObject((await deps.readBody(call.request)).toString("utf8"));
  if (!body) throw new AppError("invalid_json", { values: { position: "the body must be a JSON object" } });
  return body as JsonObject;
}
