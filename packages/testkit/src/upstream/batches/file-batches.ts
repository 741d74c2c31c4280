import type { FakeFiles } from "../files.ts";
import type { Recorded } from "../recorded.ts";
import type { Json } from "../reply.ts";
import type { ScriptedAnswer } from "../scripted-answer.ts";

/** A batch whose requests and results are in files. */
interface FakeFileBatch {
  readonly id: string;
  readonly asked: Json;
  readonly customIds: readonly string[];
  readonly createdAt: number;
  status: string;
  completed: number;
  failed: number;
  outputFileId: string | null;
  errorFileId: string | null;
  /** Why the whole batch failed. */
  errorCode: string | null;
}

/** How a batch ends. */
export interface FileBatchEnd {
  readonly status?: "completed" | "expired" | "cancelled" | "failed";
  /** Items that fail. */
  readonly failed?: readonly string[];
  /** Items without an answer. */
  readonly unfinished?: readonly string[];
  /** The output file does not exist yet; `addOutput` adds it. */
  readonly isLate?: boolean;
  /** Why no item ran. */
  readonly errorCode?: string;
}

/** OpenAI's batch API of the fake upstream. */
export interface FileBatchServer {
  readonly batches: ReadonlyMap<string, FakeFileBatch>;
  end(id: string, end?: FileBatchEnd): void;
  /** Adds the output file that was late. */
  addOutput(id: string): void;
  answer(request: Recorded): ScriptedAnswer | undefined;
  clear(): void;
}

const ROUTE = /\/v1\/batches(?:\/([^/]+)(\/cancel)?)?$/;
const USAGE = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 };

export function createFileBatchServer(files: FakeFiles): FileBatchServer {
  const batches = new Map<string, FakeFileBatch>();
  const outputs = new Map<string, string>();
  let serial = 0;

  const create = (request: Recorded): ScriptedAnswer => {
    const asked = request.json ?? {};
    const file = files.stored.get(String(asked["input_file_id"]));
    if (!file) return refuse(404);
    const lines = file.bytes.toString().trim().split("\n");
    const customIds = lines.map((line) => (JSON.parse(line) as { custom_id: string }).custom_id);
    const batch: FakeFileBatch = {
      id: `batch_UP${++serial}`,
      asked,
      customIds,
      createdAt: Math.floor(Date.now() / 1000),
      status: "in_progress",
      completed: 0,
      failed: 0,
      outputFileId: null,
      errorFileId: null,
      errorCode: null,
    };
    batches.set(batch.id, batch);
    return { body: show(batch) };
  };

  const addFile = (id: string, text: string) =>
    text === "" ? null : files.add({ name: `${id}.jsonl`, purpose: "batch_output", bytes: Buffer.from(text) }).id;

  return {
    batches,
    end(id, { status = "completed", failed = [], unfinished = [], isLate = false, errorCode } = {}) {
      const batch = batches.get(id);
      if (!batch) throw new Error(`the fake upstream has no batch ${id}`);
      if (errorCode !== undefined) {
        Object.assign(batch, { status: "failed", errorCode });
        return;
      }
      const open = [...failed, ...unfinished];
      const succeeded = batch.customIds.filter((customId) => !open.includes(customId));
      const output = succeeded.map(answerLine).join("");
      outputs.set(id, output);
      batch.status = status;
      batch.completed = succeeded.length;
      batch.failed = failed.length;
      batch.outputFileId = isLate ? null : addFile(id, output);
      batch.errorFileId = addFile(id, [...failed.map(failedLine), ...unfinished.map(expiredLine)].join(""));
    },
    addOutput(id) {
      const batch = batches.get(id);
      if (batch) batch.outputFileId = addFile(id, outputs.get(id) ?? "");
    },
    answer(request) {
      const found = ROUTE.exec(request.path);
      if (!found) return undefined;
      const [, id, rest] = found;
      if (id === undefined)
        return request.method === "POST"
          ? create(request)
          : { body: { object: "list", data: [...batches.values()].map(show), has_more: false } };
      const batch = batches.get(id);
      if (!batch) return refuse(404);
      if (rest !== undefined) batch.status = "cancelling";
      return { body: show(batch) };
    },
    clear() {
      batches.clear();
      outputs.clear();
    },
  };
}

function refuse(status: number): ScriptedAnswer {
  return {
    status,
    body: { error: { message: `The fake upstream answers ${status}.`, type: "invalid_request_error" } },
  };
}

function show(batch: FakeFileBatch): Json {
  const { id, asked, customIds, status, createdAt, completed, failed, outputFileId, errorFileId, errorCode } = batch;
  return {
    id,
    object: "batch",
    endpoint: asked["endpoint"],
    errors: errorCode && {
      object: "list",
      data: [{ code: errorCode, message: `The fake upstream says ${errorCode}.`, line: null, param: null }],
    },
    input_file_id: asked["input_file_id"],
    completion_window: asked["completion_window"],
    status,
    output_file_id: outputFileId,
    error_file_id: errorFileId,
    created_at: createdAt,
    expires_at: createdAt + 86_400,
    ...(status === "in_progress" || status === "cancelling" ? {} : { [`${status}_at`]: createdAt + 1 }),
    request_counts: { total: customIds.length, completed, failed },
    metadata: asked["metadata"] ?? null,
  };
}

function answerLine(id: string): string {
  const body = {
    id: `chatcmpl-${id}`,
    object: "chat.completion",
    model: "gpt-5.6",
    choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
    usage: USAGE,
  };
  return formatLine(id, { status_code: 200, request_id: `r${id}`, body });
}

function failedLine(id: string): string {
  const error = { message: "Invalid value", type: "invalid_request_error", param: "temperature", code: null };
  return formatLine(id, { status_code: 400, request_id: `r${id}`, body: { error } });
}

function expiredLine(id: string): string {
  return formatLine(id, null, { code: "batch_expired", message: "The batch expired." });
}

function formatLine(id: string, response: Json | null, error: Json | null = null): string {
  return `${JSON.stringify({ id: `batch_req_${id}`, custom_id: id, response, error })}\n`;
}
