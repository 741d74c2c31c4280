import { invalidRequest } from "../../lib/app-error.ts";
import { readModelName } from "../core/request-spec.ts";
import { bareModel, gNumber } from "../gemini-generate/fields.ts";
import { plainDialect } from "../core/typed-meter.ts";
import { estimateTokenBound, collectTexts, collectWords, type PromptReader } from "../core/prompt.ts";
import { anyText, object, objects } from "../core/read.ts";
import type { Dialect, JsonObject } from "../core/types.ts";
import { readGeminiUsage } from "../core/usage.ts";

/** embedContent for one content, batchEmbedContents for a list of requests; the path decides which one it is. */
export const geminiEmbed: Dialect = {
  ...plainDialect,
  id: "gemini-embed",
  errors: "gemini",
  inspect(body, operation, pathModel) {
    const json = body.json();
    if (object(json, "content") === undefined && objects(json, "requests").length === 0) {
      throw invalidRequest("content", "content or requests is required.");
    }
    return {
      operation,
      dialect: "gemini-embed",
      model: readModelName({}, pathModel === undefined ? undefined : bareModel(pathModel)),
      stream: false,
      wantsStreamUsage: false,
      outputCap: undefined,
      promptEstimate: estimateTokenBound((reader) => walk(json, reader)),
      units: 1,
    };
  },
  /** Renames the model in the body and in every request of a batch. */
  retarget(body, spec, upstreamModel) {
    const json = body.json();
    if (spec.model === upstreamModel) return body.bytes;
    const name = `models/${upstreamModel}`;
    const requests = objects(json, "requests").map((request) => ({ ...request, model: name }));
    if (requests.length > 0) return Buffer.from(JSON.stringify({ ...json, requests }));
    return json["model"] === undefined ? body.bytes : Buffer.from(JSON.stringify({ ...json, model: name }));
  },
  isAnswer: (answer) => object(answer, "embedding") !== undefined || objects(answer, "embeddings").length > 0,
  usage(answer) {
    const usage = object(answer, "usageMetadata");
    return gNumber(usage, "promptTokenCount") === undefined ? undefined : readGeminiUsage(usage);
  },
  promptTexts: (body) => collectTexts((reader) => walk(body.json(), reader)),
  promptWords: (body) => collectWords((reader) => walk(body.json(), reader)),
};

function walk(json: JsonObject, reader: PromptReader): void {
  for (const request of [json, ...objects(json, "requests")]) {
    for (const part of objects(object(request, "content"), "parts")) reader.text(anyText(part, "text"));
  }
}
