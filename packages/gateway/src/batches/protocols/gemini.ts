import { createHash } from "node:crypto";
import { isObject, list, object, text } from "../../dialects/core/read.ts";
import type { JsonObject, JsonValue } from "../../dialects/core/types.ts";
import { parseObject } from "../../lib/text/json.ts";
import { createObjectId } from "../../objects/ids.ts";
import type { BatchSupport } from "../../providers/core/batches.ts";
import { buildPath } from "./paths.ts";
import type { BatchCounts, BatchProtocol, BatchState } from "./protocol.ts";
import type { BatchRow } from "../row.ts";

/** Lists of results, which are as long as the answers of the batch and are never stored here. */
export const RESULT_LIST = "inlinedResponses";

const MAX_PAGE = 100;
const BATCH_NAME = /^batches\/([\w-]{1,128})$/;
const FILE_NAME = /^files\/([\w-]{1,128})$/;
const STATE = /^(?:BATCH|JOB)_STATE_(\w+)$/;
const ENDED: ReadonlySet<string> = new Set(["SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"]);
/** Members of an output that hold results. */
const INLINE_OUTPUTS = ["inlinedResponses", "inlinedEmbedContentResponses"];
/** The vendor ends a batch after this time. */
const LIFE_SECONDS = 48 * 3_600;
const MARK = / ?#fw:[0-9a-f]{8}$/;

/** Google's batches: operations whose items are in the request or in a file. */
export const geminiBatches: BatchProtocol = {
  id: "gemini",
  findFormat: (row) => (hasFile(row) ? "gemini" : "gemini-inline"),
  hasFiles: hasFile,
  hasResults: (row) => (hasFile(row) ? row.output_file_id !== "" : holdsResults(parseObject(row.wire))),
  createId: (now) => createObjectId("gemini", "batch", now),
  readState,
  readList: (json) => (isObject(json) ? list(json, "operations").filter(isObject) : []),
  fitsRow: (listed, row) => text(object(listed, "metadata"), "displayName")?.endsWith(createMark(row.id)) === true,
  view: (row) => withoutResults(viewOperation(row)),
  paths: buildPaths,
};

function hasFile({ input_file_id: input, output_file_id: output }: BatchRow): boolean {
  return input !== "" || output !== "";
}

/** Returns the end of the name by which the batch is found again after a lost answer; clients never see it. */
export function createMark(id: string): string {
  return `#fw:${createHash("sha256").update(id).digest("hex").slice(0, 8)}`;
}

function buildPaths({ path }: BatchSupport): ReturnType<BatchProtocol["paths"]> {
  const read = (id: string) => ({ ...buildPath(path, "GET", id), without: RESULT_LIST });
  return {
    create: (row) => ({ method: "POST", path: `${buildModelPath(path, readModel(row).upstream)}:${row.endpoint}` }),
    list: () => ({ method: "GET", path: `${path}?pageSize=${MAX_PAGE}`, without: RESULT_LIST }),
    read,
    cancel: (id) => buildPath(path, "POST", id, ":cancel"),
    remove: (id) => buildPath(path, "DELETE", id),
    results: (id) => buildPath(path, "GET", id),
  };
}

/** Models are next to batches; the vendor lists tuned ones in a collection of their own. */
function buildModelPath(batches: string, named: string): string {
  const [, collection = "models", model = named] = /^(models|tunedModels)\/(.+)$/.exec(named) ?? [];
  return `${batches.replace(/[^/]+$/, collection)}/${encodeURIComponent(model)}`;
}

/** A batch has one model. */
function readModel({ models }: Pick<BatchRow, "models">): { readonly name: string; readonly upstream: string } {
  const [[name, of] = ["", undefined]] = Object.entries(parseObject(models) ?? {});
  return { name, upstream: (isObject(of) ? text(of, "upstream") : undefined) ?? name };
}

function readState(json: unknown): BatchState | undefined {
  if (!isObject(json)) return undefined;
  const upstreamId = BATCH_NAME.exec(text(json, "name") ?? "")?.[1];
  const metadata = object(json, "metadata");
  if (upstreamId === undefined || !metadata) return undefined;
  const state = readStateName(metadata);
  const isEnded = ENDED.has(state) || json["done"] === true;
  const createdAt = readTime(metadata, "createTime");
  const outputFileId = findOutput(json, metadata);
  return {
    upstreamId,
    isEnded,
    counts: readCounts(metadata, state),
    createdAt,
    expiresAt: createdAt > 0 ? createdAt + LIFE_SECONDS : 0,
    endedAt: isEnded ? readTime(metadata, "endTime") : 0,
    wire: hideIds(json, metadata),
    ...(outputFileId !== undefined && { outputFileId }),
  };
}

function readStateName(metadata: JsonObject): string {
  return STATE.exec(text(metadata, "state") ?? "")?.[1] ?? "";
}

function findOutput(json: JsonObject, metadata: JsonObject): string | undefined {
  const file = text(object(metadata, "output"), "responsesFile") ?? text(object(json, "response"), "responsesFile");
  return file === undefined ? undefined : FILE_NAME.exec(file)?.[1];
}

/** Items that neither succeeded nor failed have expired or were cancelled with the batch. Zeros are left out. */
function readCounts(metadata: JsonObject, state: string): BatchCounts | undefined {
  const stats = object(metadata, "batchStats");
  if (!stats) return undefined;
  const [total, failed, pending] = ["requestCount", "failedRequestCount", "pendingRequestCount"].map((name) =>
    readCount(stats, name),
  ) as [number, number, number];
  const named = readCount(stats, "successfulRequestCount");
  const succeeded = state === "SUCCEEDED" ? Math.max(named, total - failed - pending) : named;
  const rest = Math.max(0, total - succeeded - failed);
  return {
    total,
    succeeded,
    failed,
    expired: state === "EXPIRED" ? rest : 0,
    cancelled: state === "CANCELLED" ? rest : 0,
  };
}

/** Counts are written as text. */
function readCount(stats: JsonObject, name: string): number {
  const value = Number(stats[name] ?? 0);
  return Number.isSafeInteger(value) && value > 0 ? value : 0;
}

function readTime(metadata: JsonObject, name: string): number {
  const time = Date.parse(text(metadata, name) ?? "");
  return Number.isNaN(time) ? 0 : Math.floor(time / 1_000);
}

function hideIds(json: JsonObject, metadata: JsonObject): JsonObject {
  const { inputConfig: _input, ...known } = metadata;
  const hidden = { ...json, name: "", metadata: { ...known, name: "" } };
  return nameFile(hidden, "");
}

/** Sets the file of the results wherever the operation names it. */
function nameFile(operation: JsonObject, name: string): JsonObject {
  const metadata = object(operation, "metadata");
  const output = object(metadata, "output");
  const response = object(operation, "response");
  const replaced = (from: JsonObject) => ({ ...from, responsesFile: name });
  return {
    ...operation,
    ...(metadata && output?.["responsesFile"] !== undefined && { metadata: { ...metadata, output: replaced(output) } }),
    ...(response?.["responsesFile"] !== undefined && { response: replaced(response) }),
  };
}

/** The operation as the client sees it, with empty lists in place of its results. */
export function viewOperation(row: BatchRow): JsonObject {
  const wire = (parseObject(row.wire) ?? {}) as JsonObject;
  const name = `batches/${row.id}`;
  const { displayName: marked, ...metadata } = object(wire, "metadata") ?? {};
  const displayName = typeof marked === "string" ? marked.replace(MARK, "") : "";
  const { name: model, upstream } = readModel(row);
  const shown: JsonObject = {
    ...wire,
    name,
    metadata: {
      ...metadata,
      name,
      ...(displayName !== "" && { displayName }),
      ...(model !== upstream && { model: `models/${model}` }),
      ...(row.input_file_id !== "" && { inputConfig: { fileName: `files/${row.input_file_id}` } }),
    },
  };
  return row.output_file_id === "" ? shown : nameFile(shown, `files/${row.output_file_id}`);
}

function holdsResults(wire: unknown): boolean {
  if (!isObject(wire)) return false;
  const outputs = [object(object(wire, "metadata"), "output"), object(wire, "response")];
  return outputs.some((output) => output && INLINE_OUTPUTS.some((name) => output[name] !== undefined));
}

/** Lists of batches do not repeat the results of each. */
function withoutResults(operation: JsonObject): JsonObject {
  if (!holdsResults(operation)) return operation;
  const metadata = object(operation, "metadata") ?? {};
  const response = object(operation, "response");
  return {
    ...operation,
    metadata: { ...metadata, ...(metadata["output"] !== undefined && { output: withoutLists(metadata["output"]) }) },
    ...(response && { response: withoutLists(response) }),
  };
}

function withoutLists(output: JsonValue): JsonObject {
  const entries = isObject(output) ? Object.entries(output) : [];
  return Object.fromEntries(entries.filter(([name]) => !INLINE_OUTPUTS.includes(name)));
}
