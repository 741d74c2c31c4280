import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../../lib/app-error.ts";
import type { ErrorDialect } from "../../dialects/core/types.ts";
import { isTaskModel } from "../../billing/pricing/default-ratios.ts";
import type { ModelFacts } from "../../billing/pricing/model-facts.ts";
import { findModelOwner } from "../../providers/registry.ts";
import { isTeamModel, keepTeamChannels } from "../../identity/authentication/team-rights.ts";
import type { Level, Snapshot } from "../../snapshot/types.ts";
import { servingGroups } from "../admission/model-access.ts";
import type { Caller } from "../request/request.ts";
import { anthropicDetails, createDetails, geminiDetails, type ModelDetails, openAiDetails } from "./model-details.ts";
import { decodePercent } from "../../lib/text/percent-encoding.ts";

/** Returns the protocol of a model list: the only GET whose shape depends on headers. */
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

/**
 * Returns the models that the caller may use: those enabled in its groups, within the key's own limits. Sorted by name.
 */
export function usableModels(snapshot: Snapshot, caller: Caller): string[] {
  const names = new Set<string>();
  for (const group of servingGroups(caller, snapshot)) {
    for (const [model, levels] of snapshot.index.get(group) ?? []) {
      if (mayListModel(caller, model, levels)) names.add(model);
    }
  }
  return [...names].sort();
}

function mayListModel(caller: Caller, model: string, levels: readonly Level[]): boolean {
  if (caller.modelLimits !== undefined && !caller.modelLimits.has(model)) return false;
  if (caller.team === undefined) return true;
  const isServed = levels.some(({ channels }) => keepTeamChannels(channels, caller).length > 0);
  return isServed && isTeamModel(caller, model);
}

/** What model lists know about a model, and the calls that accept it. */
export interface ModelLister {
  details(model: string): ModelDetails | undefined;
  facts(model: string): ModelFacts;
}

/** Returns the details of models for the caller; those of its first group if several may serve it. */
export function createLister(snapshot: Snapshot, caller: Caller): ModelLister {
  const details = createDetails(snapshot, servingGroups(caller, snapshot)[0] ?? caller.group);
  return { details: (model) => details?.(model), facts: (model) => snapshot.prices.facts(model) };
}

/** Returns the list in the caller's protocol. */
export function modelList(
  dialect: ErrorDialect,
  models: readonly string[],
  query: URLSearchParams,
  lister: ModelLister,
): unknown {
  if (dialect === "gemini") return { models: models.map((model) => geminiModel(model, lister)) };
  if (dialect === "anthropic") return anthropicPage(models, query, lister);
  return { object: "list", success: true, data: models.map((model) => openAiModel(model, lister)) };
}

export interface ModelQuestion {
  readonly name: string;
  readonly models: readonly string[];
  readonly caller: Caller;
  readonly lister: ModelLister;
}

/** Returns one element of the list; throws `model_not_found`. */
export function oneModel(dialect: ErrorDialect, { name, models, caller, lister }: ModelQuestion): unknown {
  const model = decoded(name);
  if (!models.includes(model))
    throw new AppError("model_not_found", { param: "model", values: { model, group: caller.group } });
  if (dialect === "gemini") return geminiModel(model, lister);
  return dialect === "anthropic" ? anthropicModel(model, lister) : openAiModel(model, lister);
}

function decoded(name: string): string {
  const model = decodePercent(name);
  if (model === undefined) throw new AppError("invalid_model", { param: "model" });
  return model;
}

/** A fixed time: consoles of compatible gateways sort by it, and no upstream reports the true one. */
const CREATED = 1_626_777_600;

function openAiModel(id: string, lister: ModelLister) {
  const details = lister.details(id);
  return {
    id,
    object: "model",
    created: CREATED,
    owned_by: findModelOwner(id),
    root: id,
    parent: null,
    ...(details && { name: id, ...openAiDetails(details) }),
  };
}

function anthropicModel(id: string, lister: ModelLister) {
  const details = lister.details(id);
  const created_at = new Date(CREATED * 1000).toISOString();
  return { type: "model", id, display_name: id, created_at, ...(details && anthropicDetails(details)) };
}

function geminiModel(id: string, lister: ModelLister) {
  const details = lister.details(id);
  return {
    name: `models/${id}`,
    displayName: id,
    supportedGenerationMethods: findMethods(id, lister),
    ...(details && geminiDetails(details)),
  };
}

const CONTENT_METHODS = ["generateContent", "streamGenerateContent", "countTokens"];

/** Gemini's clients offer a model for these calls; a model that no list knows may be any chat model. */
function findMethods(id: string, lister: ModelLister): string[] {
  if (isTaskModel(id)) return [];
  const { modalities, mode } = lister.facts(id);
  if (!modalities) return mode === undefined ? CONTENT_METHODS : [];
  if (modalities.output.includes("embeddings")) return ["embedContent", "batchEmbedContents"];
  return modalities.input.includes("text") && modalities.output.includes("text") ? CONTENT_METHODS : [];
}

function anthropicPage(models: readonly string[], query: URLSearchParams, lister: ModelLister) {
  const limit = Math.min(1000, Math.max(1, Number.parseInt(query.get("limit") ?? "20", 10) || 20));
  const after = query.get("after_id");
  const before = query.get("before_id");
  const start = after === null ? 0 : models.indexOf(after) + 1;
  const end = before === null ? models.length : Math.max(0, models.indexOf(before));
  const page = before === null ? models.slice(start, start + limit) : models.slice(Math.max(start, end - limit), end);
  return {
    data: page.map((model) => anthropicModel(model, lister)),
    has_more: before === null ? start + limit < models.length : end - limit > start,
    first_id: page[0] ?? null,
    last_id: page.at(-1) ?? null,
  };
}
