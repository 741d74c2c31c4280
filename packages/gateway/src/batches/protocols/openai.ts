import { isObject, list, object, text } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { parseObject } from "../../lib/text/json.ts";
import { createObjectId } from "../../objects/ids.ts";
import type { BatchSupport } from "../../providers/core/batches.ts";
import { readUpstreamFiles } from "../files/upstream-files.ts";
import { buildCommonPaths } from "./paths.ts";
import type { BatchCounts, BatchProtocol, BatchState } from "./protocol.ts";

/** The member of `metadata` by which a batch is found again; clients never see it. */
export const OWN_MARK = "fairway_batch";

const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "expired", "cancelled"]);
const END_TIMES = ["completed_at", "failed_at", "expired_at", "cancelled_at"];

/** Batches whose items are in files. */
export const openaiBatches: BatchProtocol = {
  id: "openai",
  findFormat: () => "openai",
  hasFiles: () => true,
  hasResults: ({ output_file_id: output }) => output !== "",
  createId: (now) => createObjectId("openai", "batch", now),
  readState,
  readList: (json) => (isObject(json) ? list(json, "data").filter(isObject) : []),
  fitsRow(listed, row) {
    const mark = object(listed, "metadata")?.[OWN_MARK];
    return mark === undefined ? listed["input_file_id"] === readUpstreamFiles(row).input : mark === row.id;
  },
  view(row) {
    const wire: JsonObject = parseObject(row.wire) ?? {};
    return {
      ...wire,
      id: row.id,
      input_file_id: row.input_file_id,
      output_file_id: row.output_file_id || null,
      error_file_id: row.error_file_id || null,
    };
  },
  paths: buildPaths,
};

function buildPaths(support: BatchSupport): ReturnType<BatchProtocol["paths"]> {
  return { ...buildCommonPaths(support, 100), remove: () => undefined, results: () => undefined };
}

function readState(json: unknown): BatchState | undefined {
  if (!isObject(json)) return undefined;
  const upstreamId = text(json, "id");
  const status = text(json, "status");
  if (!upstreamId || !status) return undefined;
  const [outputFileId, errorFileId] = [text(json, "output_file_id"), text(json, "error_file_id")];
  const isEnded = ENDED.has(status);
  return {
    upstreamId,
    isEnded,
    counts: readCounts(json, status),
    createdAt: readTime(json, "created_at"),
    expiresAt: readTime(json, "expires_at"),
    endedAt: isEnded ? (END_TIMES.map((name) => readTime(json, name)).find((time) => time > 0) ?? 0) : 0,
    wire: { ...json, id: "", input_file_id: "", output_file_id: null, error_file_id: null, metadata: readOwn(json) },
    ...(outputFileId && { outputFileId }),
    ...(errorFileId && { errorFileId }),
  };
}

/** Returns the client's own metadata. */
function readOwn(json: JsonObject): JsonObject | null {
  const { [OWN_MARK]: _mark, ...metadata } = object(json, "metadata") ?? {};
  return Object.keys(metadata).length === 0 ? null : metadata;
}

/** Items that are neither completed nor failed have expired or were cancelled with the batch. */
function readCounts(json: JsonObject, status: string): BatchCounts {
  const [total, succeeded, failed] = [
    readCount(json, "total"),
    readCount(json, "completed"),
    readCount(json, "failed"),
  ];
  const rest = Math.max(0, total - succeeded - failed);
  return {
    total,
    succeeded,
    failed,
    expired: status === "expired" ? rest : 0,
    cancelled: status === "cancelled" ? rest : 0,
  };
}

function readCount(json: JsonObject, name: string): number {
  const value = object(json, "request_counts")?.[name];
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

function readTime(json: JsonObject, name: string): number {
  const value = json[name];
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
