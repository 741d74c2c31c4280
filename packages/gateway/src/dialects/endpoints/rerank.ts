import { AppError, invalidRequest } from "../../lib/app-error.ts";
import { readModelName } from "../core/request-spec.ts";
import { plainDialect } from "../core/typed-meter.ts";
import { estimateTokenBound, collectTexts, collectWords, type PromptReader } from "../core/prompt.ts";
import { count, isObject, isSet, list, object, text } from "../core/read.ts";
import type { Dialect, JsonObject, JsonValue, Usage } from "../core/types.ts";
import { toUsage } from "../core/usage.ts";

export const rerank: Dialect = {
  ...plainDialect,
  id: "rerank",
  inspect(body, operation, pathModel) {
    const json = body.json();
    const model = readModelName(json, pathModel);
    if (!isSet(json["query"]) || json["query"] === "") throw new AppError("invalid_query", { param: "query" });
    if (list(json, "documents").length === 0) throw new AppError("invalid_documents", { param: "documents" });
    const top = json["top_n"];
    if (isSet(top) && (typeof top !== "number" || !Number.isInteger(top) || top < 1)) {
      throw invalidRequest("top_n", "top_n must be a whole number from 1 up.");
    }
    return {
      operation,
      dialect: "rerank",
      model,
      stream: false,
      wantsStreamUsage: false,
      outputCap: undefined,
      promptEstimate: estimateTokenBound((reader) => walk(json, reader)),
      units: 1,
    };
  },
  usage: readRerankUsage,
  promptTexts: (body) => collectTexts((reader) => walk(body.json(), reader)),
  promptWords: (body) => collectWords((reader) => walk(body.json(), reader)),
};

/** Reads usage: Jina and its copies count tokens; Cohere bills input tokens or search units. */
function readRerankUsage(answer: JsonObject): Usage | undefined {
  const usage = object(answer, "usage");
  const billed = object(object(answer, "meta"), "billed_units");
  const tokens = object(object(answer, "meta"), "tokens");
  const input =
    count(usage, "prompt_tokens") ??
    count(usage, "total_tokens") ??
    count(billed, "input_tokens") ??
    count(tokens, "input_tokens");
  const searches = count(billed, "search_units") ?? count(usage, "search_units");
  if (input === undefined && searches === undefined) return undefined;
  return { ...toUsage({ input: input ?? 0 }), ...(searches !== undefined && { units: searches }) };
}

function walk(json: JsonObject, reader: PromptReader): void {
  walkDocument(json["query"], reader);
  for (const document of list(json, "documents")) walkDocument(document, reader);
}

function walkDocument(document: JsonValue | undefined, reader: PromptReader): void {
  if (typeof document === "string") return reader.text(document);
  const written = isObject(document) ? text(document, "text") : undefined;
  if (written !== undefined) reader.text(written);
  else if (isSet(document)) reader.json(document);
}
