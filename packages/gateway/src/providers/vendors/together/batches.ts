import { object, text } from "../../../dialects/core/read.ts";
import type { JsonObject, JsonValue } from "../../../dialects/core/types.ts";
import type { BatchForm, BatchSupport } from "../../core/batches.ts";

const STATES: Readonly<Record<string, string>> = {
  VALIDATING: "validating",
  IN_PROGRESS: "in_progress",
  COMPLETED: "completed",
  FAILED: "failed",
  EXPIRED: "expired",
  CANCELLED: "cancelled",
};
const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "expired", "cancelled"]);

/** Jobs with the files and lines of OpenAI's batches; a creation answers `{"job", "warning"}`, a list is a bare array. */
const form: BatchForm = {
  writeCreation: (asked, model) => ({
    input_file_id: asked["input_file_id"] ?? null,
    endpoint: asked["endpoint"] ?? null,
    completion_window: "24h",
    model_id: model,
  }),
  readBatch(answer) {
    const job = object(answer, "job") ?? answer;
    const status = readStatus(job);
    return {
      object: "batch",
      id: job["id"] ?? "",
      endpoint: job["endpoint"] ?? "",
      model: job["model_id"] ?? null,
      errors: readErrors(job),
      input_file_id: job["input_file_id"] ?? null,
      output_file_id: job["output_file_id"] || null,
      error_file_id: job["error_file_id"] || null,
      completion_window: "24h",
      status,
      created_at: readTime(job, "created_at"),
      expires_at: readTime(job, "job_deadline"),
      ...(ENDED.has(status) && { [`${status}_at`]: readTime(job, "completed_at") }),
      // The vendor shows a percentage, and no counts.
      request_counts: { total: 0, completed: 0, failed: 0 },
      metadata: null,
    };
  },
};

/** Without counts, only its files prove that a completed job has its results. */
function readStatus(job: JsonObject): string {
  const status = STATES[text(job, "status") ?? ""] ?? "in_progress";
  const hasFiles = Boolean(job["output_file_id"]) || Boolean(job["error_file_id"]);
  return status === "completed" && !hasFiles ? "finalizing" : status;
}

function readErrors(job: JsonObject): JsonValue {
  const message = text(job, "error") ?? "";
  if (message === "") return null;
  return { object: "list", data: [{ code: "invalid_request", line: null, message, param: null }] };
}

function readTime(job: JsonObject, name: string): number | null {
  const time = Date.parse(text(job, name) ?? "");
  return Number.isNaN(time) ? null : Math.floor(time / 1000);
}

export const TOGETHER_BATCHES: BatchSupport = {
  protocol: "openai",
  path: "/v1/batches",
  maxItems: 50_000,
  maxBytes: 100 * 1024 * 1024,
  endpoints: ["/v1/chat/completions"],
  windows: ["24h"],
  form,
};
