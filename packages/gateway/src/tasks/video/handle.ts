import { isObject } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { AppError, unsupportedParameter } from "../../lib/app-error.ts";
import { parseObject } from "../../lib/text/json.ts";
import { decoded } from "../segment.ts";
import { findTask, taskView, type AsyncRow } from "../store.ts";
import type { TaskCall, TaskDeps } from "../types.ts";
import { readVideoRequest, sendContent, videoObject } from "./openai.ts";
import { submitVideo, VideoError, type Submitted } from "./submit.ts";
import { videoVendor, videoVendors, type VideoVendor } from "./vendors.ts";

export interface VideoAnswer {
  readonly status: number;
  /** Undefined = the answer was already sent. */
  readonly body: unknown;
}

const GENERAL = /^\/v1\/video\/generations(?:\/([^/]+))?$/;
const OPENAI = /^\/v1\/videos(?:\/([^/]+?)(\/content)?)?$/;
const NATIVE = /^\/([a-z0-9_]+)\/v1\/videos\/([a-z0-9-]+)(?:\/([^/]+))?$/;

/** Answers a video route; undefined for a path that does not exist. Throws AppError. */
export async function handleVideo(
  call: TaskCall,
  { method, path }: { readonly method: string; readonly path: string },
  deps: TaskDeps,
): Promise<VideoAnswer | undefined> {
  const general = GENERAL.exec(path);
  if (general) return answerGeneral(call, method, general[1], deps);
  const openai = OPENAI.exec(path);
  if (openai) return answerOpenAi(call, { method, task: openai[1], isContent: openai[2] !== undefined }, deps);
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

/** Answers in the vendor's own protocol, including errors of the upstream. */
async function answerNative(
  call: TaskCall,
  { vendor, action, method, task }: NativeCall,
  deps: TaskDeps,
): Promise<VideoAnswer | undefined> {
  const { videos, provider } = vendor;
  if (method === "GET" && task !== undefined) {
    const row = await requireTask(call, task, provider.id, deps);
    const { status, fail_reason: failReason } = row;
    return {
      status: 200,
      body: videos.view({ id: row.task_id, status, failReason, data: parseData(row) }, call.requestId),
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

/** Answers in one form for all vendors. */
async function answerGeneral(
  call: TaskCall,
  method: string,
  task: string | undefined,
  deps: TaskDeps,
): Promise<VideoAnswer | undefined> {
  if (method === "GET" && task !== undefined) {
    const row = await requireTask(call, task, undefined, deps);
    const [url = ""] = videoVendor(row.platform)?.videos.urls(parseData(row)) ?? [];
    return { status: 200, body: { code: "success", message: "", data: { ...taskView(row), url } } };
  }
  if (method !== "POST" || task !== undefined) return undefined;
  const general = await readJson(call, deps);
  const { id, createdAt } = await submitGeneral(call, general, deps);
  const { model = null } = general;
  return {
    status: 200,
    body: { id, task_id: id, object: "video", model, status: "queued", progress: 0, created_at: createdAt },
  };
}

interface OpenAiCall {
  readonly method: string;
  readonly task: string | undefined;
  readonly isContent: boolean;
}

/** Answers as OpenAI's clients know videos: created, queried, downloaded. */
async function answerOpenAi(
  call: TaskCall,
  { method, task, isContent }: OpenAiCall,
  deps: TaskDeps,
): Promise<VideoAnswer | undefined> {
  if (method === "POST" && task === undefined) {
    const { id } = await submitGeneral(call, await readVideoRequest(call, deps), deps);
    return { status: 200, body: videoObject(await requireTask(call, id, undefined, deps)) };
  }
  if (method !== "GET" || task === undefined) throw new AppError("api_not_implemented");
  const row = await requireTask(call, task, undefined, deps);
  if (!isContent) return { status: 200, body: videoObject(row) };
  const variant = new URLSearchParams((call.request.url ?? "").split("?")[1] ?? "").get("variant") ?? "video";
  if (variant !== "video") throw unsupportedParameter("variant");
  await sendContent(call, row, videoVendor(row.platform)?.videos.urls(parseData(row))[0], deps);
  return { status: 200, body: undefined };
}

async function submitGeneral(call: TaskCall, general: JsonObject, deps: TaskDeps): Promise<Submitted> {
  const { model } = general;
  if (typeof model !== "string" || model === "") throw new AppError("model_required", { param: "model" });
  const [seconds, size] = [general["duration"] ?? "", general["size"] ?? ""].map((value) =>
    typeof value === "string" || typeof value === "number" ? String(value) : "",
  );
  try {
    const read = ({ videos }: VideoVendor) => videos.fromGeneral(general);
    return await submitVideo(call, { vendors: videoVendors, read, asked: { model, seconds, size } }, deps);
  } catch (error) {
    throw error instanceof VideoError ? error.cause : error;
  }
}

async function requireTask(
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

function parseData(row: AsyncRow): JsonObject {
  const data = row.data === "" ? undefined : (JSON.parse(row.data) as unknown);
  return isObject(data) ? data : {};
}

async function readJson(call: TaskCall, deps: TaskDeps): Promise<JsonObject> {
  const body = parseObject((await deps.readBody(call.request)).toString("utf8"));
  if (!body) throw new AppError("invalid_json", { values: { position: "the body must be a JSON object" } });
  return body as JsonObject;
}
