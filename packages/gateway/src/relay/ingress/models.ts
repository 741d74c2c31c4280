import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../../lib/app-error.ts";
import type { ErrorDialect } from "../../dialects/core/types.ts";
import { ownerOf } from "../../providers/registry.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import { servingGroups } from "../admission/model-access.ts";
import type { Caller } from "../types.ts";

/** The protocol of a model list: the only GET whose shape depends on headers. */
export function listDialect(
  prefix: "v1" | "v1beta",
  path: string,
  headers: IncomingHttpHeaders,
  query: URLSearchParams,
): ErrorDialect {
  if (path.startsWith("/v1beta/openai/")) return "openai";
  if (prefix === "v1beta") return "gemini";
  if (headers["anthropic-version"] !== undefined) return "anthropic";
  return headers["x-goog-api-key"] !== undefined || query.has("key") ? "gemini" : "openai";
}

/** Models that the caller may use: those enabled in its groups, within the key's own limits. Sorted by name. */
export function usableModels(snapshot: Snapshot, caller: Caller): string[] {
  const names = new Set<string>();
  for (const group of servingGroups(caller, snapshot)) {
    for (const model of snapshot.index.get(group)?.keys() ?? []) {
      if (caller.modelLimits === undefined || caller.modelLimits.has(model)) names.add(model);
    }
  }
  return [...names].sort();
}

/** The list, in the caller's protocol. */
export function modelList(dialect: ErrorDialect, models: readonly string[], query: URLSearchParams): unknown {
  if (dialect === "gemini") return { models: models.map(geminiModel) };
  if (dialect === "anthropic") return anthropicPage(models, query);
  return { object: "list", success: true, data: models.map(openAiModel) };
}

/** One element of the list; throws `model_not_found`. */
export function oneModel(dialect: ErrorDialect, models: readonly string[], name: string, caller: Caller): unknown {
  const model = decoded(name);
  if (!models.includes(model))
    throw new AppError("model_not_found", { param: "model", values: { model, group: caller.group } });
  if (dialect === "gemini") return geminiModel(model);
  return dialect === "anthropic" ? anthropicModel(model) : openAiModel(model);
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw new AppError("invalid_model", { param: "model" });
  }
}

/** A fixed time: consoles of compatible gateways sort by it, and no upstream reports the true one. */
const CREATED = 1_626_777_600;

function openAiModel(id: string) {
  return { id, object: "model", created: CREATED, owned_by: ownerOf(id), root: id, parent: null };
}

function anthropicModel(id: string) {
  return { type: "model", id, display_name: id, created_at: new Date(CREATED * 1000).toISOString() };
}

function geminiModel(id: string) {
  return { name: `models/${id}`, displayName: id, supportedGenerationMethods: ["generateContent", "countTokens"] };
}

function anthropicPage(models: readonly string[], query: URLSearchParams) {
  const limit = Math.min(1000, Math.max(1, Number.parseInt(query.get("limit") ?? "20", 10) || 20));
  const after = query.get("after_id");
  const before = query.get("before_id");
  const start = after === null ? 0 : models.indexOf(after) + 1;
  const end = before === null ? models.length : Math.max(0, models.indexOf(before));
  const page = before === null ? models.slice(start, start + limit) : models.slice(Math.max(start, end - limit), end);
  return {
    data: page.map(anthropicModel),
    has_more: before === null ? start + limit < models.length : end - limit > start,
    first_id: page[0] ?? null,
    last_id: page.at(-1) ?? null,
  };
}
