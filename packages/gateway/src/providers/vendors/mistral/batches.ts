import { list, object, text } from "../../../dialects/core/read.ts";
import type { JsonObject, JsonValue } from "../../../dialects/core/types.ts";
import { isObject } from "../../../lib/text/json.ts";
import type { BatchForm, BatchSupport } from "../../core/batches.ts";

const STATES: Readonly<Record<string, string>> = {
  QUEUED: "validating",
  RUNNING: "in_progress",
  SUCCESS: "completed",
  FAILED: "failed",
  TIMEOUT_EXCEEDED: "expired",
  CANCELLATION_REQUESTED: "cancelling",
  CANCELLED: "cancelled",
};
const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "expired", "cancelled"]);
const HOURS: Readonly<Record<string, number>> = {
  "24h": 24,
  "48h": 48,
  "72h": 72,
  "96h": 96,
  "120h": 120,
  "168h": 168,
};

/** Members of a job that OpenAI's batches name otherwise, with what they are if the job has none. */
const MEMBERS = [
  ["id", "id", ""],
  ["endpoint", "endpoint", ""],
  ["model", "model", null],
  ["output_file", "output_file_id", null],
  ["error_file", "error_file_id", null],
  ["created_at", "created_at", 0],
  ["started_at", "in_progress_at", null],
] as const;
const COUNTS = [
  ["total_requests", "total"],
  ["succeeded_requests", "completed"],
  ["failed_requests", "failed"],
] as const;

/** Jobs with the files and lines of OpenAI's batches, and members of their own. */
const form: BatchForm = {
  pageParameter: "page_size",
  writeCreation: (asked, model) => ({
    input_files: [asked["input_file_id"] ?? null],
    endpoint: asked["endpoint"] ?? null,
    model,
    timeout_hours: HOURS[text(asked, "completion_window") ?? ""] ?? 24,
    ...(isObject(asked["metadata"]) && { metadata: asked["metadata"] }),
  }),
  readBatch(job) {
    const status = STATES[text(job, "status") ?? ""] ?? "in_progress";
    return {
      object: "batch",
      ...Object.fromEntries(MEMBERS.map(([from, to, otherwise]) => [to, job[from] ?? otherwise])),
      errors: readErrors(job),
      input_file_id: list(job, "input_files")[0] ?? null,
      completion_window: "24h",
      status,
      ...(ENDED.has(status) && { [`${status}_at`]: job["completed_at"] ?? null }),
      request_counts: Object.fromEntries(COUNTS.map(([from, to]) => [to, job[from] ?? 0])),
      metadata: object(job, "metadata") ?? null,
    };
  },
};

function readErrors(job: JsonObject): JsonValue {
  const errors = list(job, "errors").filter(isObject);
  if (errors.length === 0) return null;
  const data = errors.map((error) => ({
    code: "invalid_request",
    line: null,
    message: text(error as JsonObject, "message") ?? "",
    param: null,
  }));
  return { object: "list", data };
}

export const MISTRAL_BATCHES: BatchSupport = {
  protocol: "openai",
  path: "/v1/batch/jobs",
  maxItems: 100_000,
  maxBytes: 512 * 1024 * 1024,
  endpoints: ["/v1/chat/completions", "/v1/embeddings", "/v1/moderations"],
  windows: Object.keys(HOURS),
  form,
};
