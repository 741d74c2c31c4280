import { invalidRequest } from "../../lib/app-error.ts";
import { readModelName } from "../core/request-spec.ts";
import { walkInput } from "./openai-completions.ts";
import { plainDialect, usageMember } from "../core/typed-meter.ts";
import { estimateTokenBound, collectTexts, collectWords } from "../core/prompt.ts";
import { isObjectList, isSet, objects } from "../core/read.ts";
import type { Dialect, JsonObject, JsonValue } from "../core/types.ts";
import { readChatUsage } from "../core/usage.ts";

const MAX_ITEMS = 2048;

export const openaiEmbeddings: Dialect = {
  ...plainDialect,
  id: "openai-embeddings",
  inspect(body, operation, pathModel) {
    const json = body.json();
    const model = readModelName(json, pathModel);
    checkInput(json["input"]);
    return {
      operation,
      dialect: "openai-embeddings",
      model,
      stream: false,
      wantsStreamUsage: false,
      outputCap: undefined,
      promptEstimate: estimateTokenBound((reader) => walkInput(json["input"], reader)),
      units: 1,
    };
  },
  isAnswer: ({ data }) => isObjectList(data) && data.length > 0,
  usage: (answer) => usageMember(answer, readChatUsage),
  withUsage: (answer, { input }) => ({ ...answer, usage: { prompt_tokens: input, total_tokens: input } }),
  fitAnswer(answer, body) {
    const json = body.json();
    // Some vendors have this member for encodings, including ones without floats.
    if (isSet(json["embedding_type"])) return answer;
    return withEncoding(answer, json["encoding_format"] === "base64");
  },
  promptTexts(body) {
    const { input } = body.json();
    const texts = collectTexts((reader) => walkInput(input, reader));
    const inputs = Array.isArray(input) ? input.filter((item) => typeof item === "string") : [];
    return inputs.length > 1 ? { ...texts, inputs } : texts;
  },
  promptWords: (body) => collectWords((reader) => walkInput(body.json()["input"], reader)),
};

function checkInput(input: JsonValue | undefined): void {
  if (!isSet(input) || input === "") throw invalidRequest("input", "input is required.");
  if (typeof input === "string") return;
  if (!Array.isArray(input)) throw invalidRequest("input", "input must be a string or an array.");
  if (input.length === 0) throw invalidRequest("input", "input must not be empty.");
  if (typeof input[0] !== "number" && input.length > MAX_ITEMS) {
    throw invalidRequest("input", `input must not have more than ${MAX_ITEMS} items.`);
  }
}

/** Converts vectors to the encoding that the client requested: some upstreams know only one. */
function withEncoding(answer: JsonObject, isBase64: boolean): JsonObject {
  const items = objects(answer, "data");
  const isFit = items.every(({ embedding }) => !isVector(embedding) || (typeof embedding === "string") === isBase64);
  return isFit
    ? answer
    : { ...answer, data: items.map((item) => ({ ...item, embedding: recoded(item["embedding"], isBase64) })) };
}

function isVector(embedding: JsonValue | undefined): boolean {
  return (
    typeof embedding === "string" || (Array.isArray(embedding) && embedding.every((value) => typeof value === "number"))
  );
}

function recoded(embedding: JsonValue | undefined, isBase64: boolean): JsonValue | undefined {
  if (typeof embedding === "string") return isBase64 ? embedding : unpackFloats(embedding);
  return isBase64 && Array.isArray(embedding) ? packFloats(embedding.map(Number)) : embedding;
}

/** Packs little-endian 32-bit floats, as OpenAI does. */
function packFloats(values: readonly number[]): string {
  return Buffer.from(Float32Array.from(values).buffer).toString("base64");
}

export function unpackFloats(packed: string): number[] {
  const bytes = Buffer.from(packed, "base64");
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, at) => bytes.readFloatLE(at * 4));
}
