import type { FakeFiles } from "../files.ts";
import type { Recorded } from "../recorded.ts";
import type { Json } from "../reply.ts";
import type { ScriptedAnswer } from "../scripted-answer.ts";

interface FakeItem {
  readonly key: string | undefined;
  readonly metadata: Json | undefined;
}

/** A batch of Google's API. */
export interface FakeGeminiBatch {
  readonly id: string;
  readonly asked: Json;
  readonly model: string;
  readonly displayName: string;
  readonly items: readonly FakeItem[];
  readonly isFile: boolean;
  readonly isEmbedding: boolean;
  readonly createdAt: string;
  state: "PENDING" | "SUCCEEDED" | "FAILED" | "CANCELLED" | "EXPIRED";
  failed: readonly string[];
  faults: GeminiFaults;
  /** The upstream's id of the file with the results. */
  outputFileId: string | undefined;
}

/** What is wrong with the results. */
export interface GeminiFaults {
  /** Only this many results are there. */
  readonly itemsSent?: number;
  /** Keys whose result is there twice. */
  readonly duplicates?: readonly string[];
  /** Further results with keys that the batch does not have. */
  readonly unknownKeys?: readonly string[];
  readonly hasUnreadableLine?: boolean;
  /** The file with the results does not exist yet; `addOutput` adds it. */
  readonly isLate?: boolean;
}

export interface GeminiBatchEnd extends GeminiFaults {
  readonly state?: "SUCCEEDED" | "FAILED" | "CANCELLED" | "EXPIRED";
  /** Keys of items that fail. */
  readonly failed?: readonly string[];
}

/** Google's batch API of the fake upstream. */
export interface GeminiBatchServer {
  readonly batches: ReadonlyMap<string, FakeGeminiBatch>;
  end(id: string, end?: GeminiBatchEnd): void;
  /** Adds the file that was late. */
  addOutput(id: string): void;
  /** Answers the next calls that are not creations with this status. */
  failNext(status: number, times?: number): void;
  /** The next creation is carried out, but its connection ends without an answer. */
  loseNextAnswer(): void;
  /** Undefined for a path that is no batch API; `lost` = no answer is sent. */
  answer(request: Recorded): ScriptedAnswer | "lost" | undefined;
  clear(): void;
}

const CREATE = /\/models\/([^/]+):(batchGenerateContent|asyncBatchEmbedContent)$/;
const ROUTE = /\/v1beta\/batches(?:\/([^/:]+)(:cancel)?)?$/;
const USAGE = { promptTokenCount: 100, candidatesTokenCount: 40, thoughtsTokenCount: 10, totalTokenCount: 150 };
const TYPE = "type.googleapis.com/google.ai.generativelanguage.v1main.";

export function createGeminiBatchServer(files: FakeFiles): GeminiBatchServer {
  const batches = new Map<string, FakeGeminiBatch>();
  let failing = { status: 0, times: 0 };
  let isNextLost = false;
  let serial = 0;

  const create = (request: Recorded, model: string, verb: string): ScriptedAnswer | "lost" => {
    const batch = (request.json?.["batch"] ?? {}) as Json;
    const config = (batch["inputConfig"] ?? batch["input_config"] ?? {}) as Json;
    const name = (config["fileName"] ?? config["file_name"]) as string | undefined;
    const items = name === undefined ? readInline(config) : readFile(name, files);
    if (!items) return refuse(404);
    const created: FakeGeminiBatch = {
      id: `gb-up${++serial}`,
      asked: request.json ?? {},
      model: decodeURIComponent(model),
      displayName: (batch["displayName"] ?? batch["display_name"] ?? "") as string,
      items,
      isFile: name !== undefined,
      isEmbedding: verb === "asyncBatchEmbedContent",
      createdAt: new Date().toISOString(),
      state: "PENDING",
      failed: [],
      faults: {},
      outputFileId: undefined,
    };
    batches.set(created.id, created);
    const isLost = isNextLost;
    isNextLost = false;
    return isLost ? "lost" : { body: show(created) };
  };

  const addOutput = (batch: FakeGeminiBatch): void => {
    const text = listResults(batch)
      .map((line) => (typeof line === "string" ? line : JSON.stringify(line)))
      .map((line) => `${line}\n`)
      .join("");
    batch.outputFileId = files.add({ name: batch.id, purpose: "", bytes: Buffer.from(text), protocol: "gemini" }).id;
  };

  return {
    batches,
    end(id, { state = "SUCCEEDED", failed = [], ...faults } = {}) {
      const batch = findBatch(batches, id);
      batch.state = state;
      batch.failed = failed;
      batch.faults = faults;
      if (state === "SUCCEEDED" && batch.isFile && faults.isLate !== true) addOutput(batch);
    },
    addOutput: (id) => addOutput(findBatch(batches, id)),
    failNext(status, times = 1) {
      failing = { status, times };
    },
    loseNextAnswer() {
      isNextLost = true;
    },
    answer(request) {
      const [, model, verb] = CREATE.exec(request.path) ?? [];
      if (model !== undefined && verb !== undefined) return create(request, model, verb);
      const found = ROUTE.exec(request.path);
      if (!found) return undefined;
      if (failing.times > 0) {
        failing.times -= 1;
        return refuse(failing.status);
      }
      const [, id, rest] = found;
      if (id === undefined) return { body: { operations: [...batches.values()].map(show) } };
      const batch = batches.get(id);
      if (!batch) return refuse(404);
      if (request.method === "DELETE") batches.delete(id);
      else if (rest !== undefined) batch.state = "CANCELLED";
      return { body: request.method === "GET" ? show(batch) : {} };
    },
    clear() {
      batches.clear();
      failing = { status: 0, times: 0 };
      isNextLost = false;
    },
  };
}

function findBatch(batches: ReadonlyMap<string, FakeGeminiBatch>, id: string): FakeGeminiBatch {
  const batch = batches.get(id);
  if (!batch) throw new Error(`the fake upstream has no batch ${id}`);
  return batch;
}

function readInline(config: Json): FakeItem[] | undefined {
  const { requests } = (config["requests"] ?? {}) as { requests?: readonly { metadata?: Json }[] };
  return requests?.map(({ metadata }) => ({ key: metadata?.["key"] as string | undefined, metadata }));
}

function readFile(name: string, files: FakeFiles): FakeItem[] | undefined {
  const lines = files.stored
    .get(name.replace(/^files\//, ""))
    ?.bytes.toString()
    .trim()
    .split("\n");
  return lines?.map((line) => ({ key: (JSON.parse(line) as { key?: string }).key, metadata: undefined }));
}

function refuse(status: number): ScriptedAnswer {
  const name = status === 404 ? "NOT_FOUND" : status === 429 ? "RESOURCE_EXHAUSTED" : "INTERNAL";
  return { status, body: { error: { code: status, message: `The fake upstream answers ${status}.`, status: name } } };
}

function show(batch: FakeGeminiBatch): Json {
  const { id, model, displayName, createdAt, state } = batch;
  const isDone = state !== "PENDING";
  const output = describeOutput(batch);
  return {
    name: `batches/${id}`,
    metadata: {
      "@type": `${TYPE}GenerateContentBatch`,
      model: `models/${model}`,
      displayName,
      ...(batch.isFile && { inputConfig: { fileName: "files/of-the-upstream" } }),
      ...(output && { output }),
      createTime: createdAt,
      updateTime: createdAt,
      ...(isDone && { endTime: createdAt }),
      batchStats: countItems(batch),
      state: `BATCH_STATE_${state}`,
      name: `batches/${id}`,
    },
    ...(isDone && { done: true }),
    ...(output && { response: { "@type": `${TYPE}GenerateContentBatchOutput`, ...output } }),
    ...((state === "FAILED" || state === "EXPIRED") && { error: { code: 13, message: "The batch did not finish." } }),
  };
}

/** Counts of zero are left out. */
function countItems({ items, state, failed }: FakeGeminiBatch): Json {
  const all = String(items.length);
  if (state !== "SUCCEEDED") return { requestCount: all, ...(state === "PENDING" && { pendingRequestCount: all }) };
  const successes = items.length - failed.length;
  return {
    requestCount: all,
    ...(successes > 0 && { successfulRequestCount: String(successes) }),
    ...(failed.length > 0 && { failedRequestCount: String(failed.length) }),
  };
}

function describeOutput(batch: FakeGeminiBatch): Json | undefined {
  if (batch.state !== "SUCCEEDED") return undefined;
  if (batch.isFile)
    return batch.outputFileId === undefined ? undefined : { responsesFile: `files/${batch.outputFileId}` };
  const results = listResults(batch).filter((line) => typeof line !== "string");
  const name = batch.isEmbedding ? "inlinedEmbedContentResponses" : "inlinedResponses";
  return { [name]: { inlinedResponses: results } };
}

/** A text is a line that cannot be read. */
function listResults(batch: FakeGeminiBatch): (Json | string)[] {
  const { items, faults } = batch;
  const { duplicates = [], unknownKeys = [], hasUnreadableLine = false, itemsSent } = faults;
  const more = [...duplicates, ...unknownKeys].map((key) => ({ key, metadata: { key } }));
  const results = [...items, ...more].map((item) => buildResult(item, batch));
  return [...results, ...(hasUnreadableLine ? ['{"key":"'] : [])].slice(0, itemsSent);
}

function buildResult({ key, metadata }: FakeItem, { isFile, isEmbedding, failed, model }: FakeGeminiBatch): Json {
  const named = isFile ? { key } : metadata && { metadata };
  if (key !== undefined && failed.includes(key)) return { ...named, error: { code: 400, message: "bad" } };
  const response = isEmbedding
    ? { embedding: { values: [0.1, 0.2] }, tokenCount: "100" }
    : {
        candidates: [
          { content: { role: "model", parts: [{ text: `The answer to ${key ?? "it"}.` }] }, finishReason: "STOP" },
        ],
        usageMetadata: USAGE,
        modelVersion: model,
      };
  return { ...named, response };
}
