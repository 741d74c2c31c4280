import { isObject, parseObject, type JsonObject } from "../../lib/text/json.ts";
import { entriesIn } from "./model-list.ts";
import type { ListedModel, ListedModels } from "./listed-model.ts";
import type { HttpJson } from "./types.ts";

/** The most models in a stored list; each modality is a short word. */
const MAX_MODELS = 2_000;
const MAX_NAME = 191;
const WORD = /^[a-z_]{1,20}$/;

/**
 * Members that hold the context length: of LM Studio (the loaded length), OpenRouter, Groq, vLLM, Mistral, Novita,
 * Gemini and Anthropic. Some servers put them into a nested object.
 */
const CONTEXT = [
  "loaded_context_length",
  "context_length",
  "context_window",
  "max_model_len",
  "max_context_length",
  "context_size",
  "inputTokenLimit",
  "max_input_tokens",
  "n_ctx",
  "n_ctx_train",
];
const OUTPUT = ["max_completion_tokens", "max_output_tokens", "outputTokenLimit", "max_output_length"];
const INNER = ["top_provider", "limits", "metadata", "meta"];
/** LM Studio's names for kinds of models. */
const OF_TYPE: Readonly<Record<string, Pick<ListedModel, "input" | "output">>> = {
  llm: { input: ["text"], output: ["text"] },
  vlm: { input: ["text", "image"], output: ["text"] },
  embeddings: { input: ["text"], output: ["embeddings"] },
};

/**
 * Returns an `HttpJson` that makes the same calls and adds what the lists in their answers say about models to `found`.
 */
export function withListedModels(http: HttpJson, found: Map<string, ListedModel>): HttpJson {
  return async (call) => {
    const answer = await http(call);
    if (answer.status === 200)
      for (const [name, model] of readListedModels(answer.json)) if (found.size < MAX_MODELS) found.set(name, model);
    return answer;
  };
}

export function readListedModels(json: unknown): ListedModels {
  const models = new Map<string, ListedModel>();
  for (const { name, entry } of entriesIn(json)) {
    const model = readEntry(entry);
    // Gemini lists resource names (`models/…`).
    if (Object.keys(model).length > 0 && name.length <= MAX_NAME) models.set(name.replace(/^models\//, ""), model);
  }
  return models;
}

function readEntry(entry: JsonObject): ListedModel {
  const places = [entry, ...INNER.map((name) => entry[name]).filter(isObject)];
  const contextTokens = readTokens(places, CONTEXT);
  // In Anthropic's list, `max_tokens` is the maximum of the answer, next to that of the prompt; elsewhere the name
  // means something else.
  const outputs = "max_input_tokens" in entry ? [...OUTPUT, "max_tokens"] : OUTPUT;
  const outputTokens = readTokens(places, outputs);
  return {
    ...(contextTokens !== undefined && { contextTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...readModalities(entry),
  };
}

function readTokens(places: readonly JsonObject[], members: readonly string[]): number | undefined {
  for (const place of places)
    for (const member of members) {
      const value = place[member];
      if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
    }
  return undefined;
}

function readModalities(entry: JsonObject): Pick<ListedModel, "input" | "output"> {
  const { architecture, type } = entry;
  for (const place of [architecture, entry]) {
    if (!isObject(place)) continue;
    const input = readWords(place["input_modalities"] ?? place["supported_input_modalities"]);
    const output = readWords(place["output_modalities"] ?? place["supported_output_modalities"]);
    if (input && output) return { input, output };
  }
  return typeof type === "string" && Object.hasOwn(OF_TYPE, type) ? (OF_TYPE[type] ?? {}) : {};
}

function readWords(value: unknown): string[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > 10) return undefined;
  const words = value.filter((one): one is string => typeof one === "string" && WORD.test(one));
  return words.length === value.length ? words : undefined;
}

/** Returns the text for a channel's column; "" if its list says nothing. */
export function listedText(place: string, models: ListedModels): string {
  return models.size === 0 ? "" : JSON.stringify({ place, models: Object.fromEntries(models) });
}

/** Returns what was read from this server; nothing if the channel has since moved to another one. */
export function parseListed(text: string | null, place: string): ListedModels {
  const stored = text ? parseObject(text) : undefined;
  const models = stored?.["place"] === place ? stored["models"] : undefined;
  return new Map(isObject(models) ? (Object.entries(models) as unknown as [string, ListedModel][]) : []);
}

/** Returns the key that identifies a channel's server. */
export function buildServerKey({ type, baseUrl }: { readonly type: number; readonly baseUrl: string }): string {
  return `${type} ${baseUrl}`;
}
