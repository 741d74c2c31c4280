import { pipeline } from "node:stream/promises";
import { compact, isObject, text } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { AppError, invalidRequest } from "../../lib/app-error.ts";
import { parseObject } from "../../lib/text/json.ts";
import { throughWorker } from "../../relay/upstream/remote-files.ts";
import type { AsyncRow } from "../store.ts";
import type { TaskCall, TaskDeps } from "../types.ts";

const MAX_CONTENT_BYTES = 1024 * 1024 * 1024;
const CONTENT_MS = 600_000;
const TYPE = /^(?:video|image)\/(?!svg)[\w.+-]+/i;

const STATUSES: Readonly<Record<string, string>> = {
  NOT_START: "queued",
  SUBMITTED: "queued",
  QUEUED: "queued",
  SUCCESS: "completed",
  FAILURE: "failed",
};

/** Converts a request of `POST /v1/videos`, JSON or form, to the general form. */
export async function readVideoRequest(call: TaskCall, deps: TaskDeps): Promise<JsonObject> {
  const type = call.request.headers["content-type"] ?? "";
  const fields = /^multipart\/form-data\b/i.test(type)
    ? await deps.readForm(call.request)
    : parseObject((await deps.readBody(call.request)).toString());
  if (!fields) throw new AppError("invalid_json", { values: { position: "the body must be a JSON object" } });
  const { input_reference: reference, seconds, ...rest } = fields as JsonObject;
  const image = isObject(reference) ? (text(reference, "image_url") ?? text(reference, "url")) : reference;
  return compact({ ...rest, duration: rest["duration"] ?? seconds, image: rest["image"] ?? image });
}

/** Returns a task as OpenAI's clients know it. */
export function videoObject(row: AsyncRow): JsonObject {
  const asked = parseObject(row.properties) as JsonObject | undefined;
  const status = STATUSES[row.status] ?? "in_progress";
  return {
    id: row.task_id,
    object: "video",
    model: text(asked, "model") ?? "",
    prompt: text(asked, "input") ?? "",
    status,
    progress: Number.parseInt(row.progress, 10) || 0,
    created_at: row.created_at,
    completed_at: status === "completed" ? row.finish_time || row.updated_at : null,
    expires_at: null,
    seconds: text(asked, "seconds") ?? "",
    size: text(asked, "size") ?? "",
    remixed_from_video_id: null,
    error: status === "failed" ? { code: "video_generation_failed", message: row.fail_reason } : null,
  };
}

/** Streams the finished video from where its vendor stores it. */
export async function sendContent(
  call: TaskCall,
  row: AsyncRow,
  url: string | undefined,
  deps: TaskDeps,
): Promise<void> {
  if (row.status !== "SUCCESS" || url === undefined) throw invalidRequest("video_id", "The video is not ready.");
  const { options } = deps.snapshots.current();
  const wanted = { url, maxBytes: MAX_CONTENT_BYTES, totalMs: CONTENT_MS };
  const answer = await deps.fetcher.fetch(throughWorker(wanted, options));
  const type = TYPE.exec(answer.headers["content-type"] ?? "video/mp4")?.[0];
  if (answer.status !== 200 || type === undefined) throw new AppError("upstream_invalid_response");
  call.response.writeHead(200, {
    "content-type": type,
    "cache-control": "private, max-age=3600",
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox",
  });
  await pipeline(answer.body, call.response);
}
