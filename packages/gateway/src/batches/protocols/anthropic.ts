import { anthropicMessages } from "../../dialects/anthropic-messages/index.ts";
import { isObject, list, object, text } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { invalidRequest } from "../../lib/app-error.ts";
import { parseObject } from "../../lib/text/json.ts";
import { createObjectId } from "../../objects/ids.ts";
import type { BatchSupport } from "../../providers/core/batches.ts";
import { buildCommonPaths, buildPath } from "./paths.ts";
import type { BatchCounts, BatchProtocol, BatchState, InlineItem, InlineProtocol } from "./protocol.ts";

const CREATED_WITHIN_SECONDS = 600;
const CUSTOM_ID = /^[a-zA-Z0-9_-]{1,64}$/;

/** Message batches. */
export const anthropicBatches: InlineProtocol = {
  id: "anthropic",
  findFormat: () => "anthropic",
  hasFiles: () => false,
  hasResults: ({ succeeded }) => succeeded > 0,
  itemDialect: anthropicMessages,
  itemPath: ["requests"],
  operation: "chat",
  idMember: "custom_id",
  placeModel: (item) => `requests.${item}.params.model`,
  writeModel: (name) => name,
  createId: (now) => createObjectId("anthropic", "batch", now),
  readItem,
  readState,
  readList: (json) => (isObject(json) ? list(json, "data").filter(isObject) : []),
  // The upstream keeps no id of ours, so time and number of items must fit.
  fitsRow(listed, { created_at, total }) {
    const age = Math.abs(readTime(listed, "created_at") - created_at);
    return age <= CREATED_WITHIN_SECONDS && readCounts(listed).total + readCount(listed, "processing") === total;
  },
  view(row, resultsUrl) {
    const wire: JsonObject = parseObject(row.wire) ?? {};
    return { ...wire, id: row.id, results_url: row.ended_at > 0 ? resultsUrl() : null };
  },
  paths: buildPaths,
};

function buildPaths(support: BatchSupport): ReturnType<BatchProtocol["paths"]> {
  const { path } = support;
  return {
    ...buildCommonPaths(support, 1_000),
    remove: (id) => buildPath(path, "DELETE", id),
    results: (id) => buildPath(path, "GET", id, "/results"),
  };
}

function readItem(element: JsonObject): InlineItem {
  const { custom_id: customId, params } = element;
  if (typeof customId !== "string" || !CUSTOM_ID.test(customId))
    throw invalidRequest("custom_id", "it must have 1 to 64 letters, digits, - or _.");
  if (!isObject(params)) throw invalidRequest("params", "it must be an object.");
  const { model } = params;
  if (typeof model !== "string" || model === "") throw invalidRequest("params.model", "it must name a model.");
  return { customId, member: "params", body: params, model, namesModel: true };
}

function readState(json: unknown): BatchState | undefined {
  if (!isObject(json)) return undefined;
  const upstreamId = text(json, "id");
  const status = text(json, "processing_status");
  if (!upstreamId || !status) return undefined;
  const isEnded = status === "ended";
  return {
    upstreamId,
    isEnded,
    counts: isEnded ? readCounts(json) : undefined,
    createdAt: readTime(json, "created_at"),
    expiresAt: readTime(json, "expires_at"),
    endedAt: isEnded ? readTime(json, "ended_at") : 0,
    wire: { ...json, id: "", results_url: null },
  };
}

function readCounts(json: JsonObject): BatchCounts {
  const [succeeded, failed] = [readCount(json, "succeeded"), readCount(json, "errored")];
  const [cancelled, expired] = [readCount(json, "canceled"), readCount(json, "expired")];
  return { total: succeeded + failed + cancelled + expired, succeeded, failed, cancelled, expired };
}

function readCount(json: JsonObject, name: string): number {
  const value = object(json, "request_counts")?.[name];
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

function readTime(json: JsonObject, name: string): number {
  const time = Date.parse(text(json, name) ?? "");
  return Number.isNaN(time) ? 0 : Math.floor(time / 1000);
}
