import { olderLimitName } from "../../core/request-transforms/output-limit.ts";
import { list, object } from "../../../dialects/core/read.ts";
import { openaiCompatible } from "../../core/openai-compatible.ts";
import { general } from "../../core/errors/classify.ts";
import { eachMessage, finishReasons, onEvent } from "../../core/response-transforms/each-choice.ts";
import { reasoningName } from "../../core/response-transforms/reasoning-name.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import type { ResponseTransform } from "../../core/types.ts";
import type { FailedAnswer, UpstreamError } from "../../core/failed-answer.ts";
import { TOGETHER_BATCHES } from "./batches.ts";
import { upstreamError } from "../../core/errors/upstream-error.ts";

const stopNames = finishReasons({ eos: "stop" });

const oddities: ResponseTransform = {
  name: "eos and empty tool calls",
  marks: ['"eos"', '"tool_calls"'],
  answer: edit,
  stream: () => onEvent(edit),
};

function edit(body: JsonObject): JsonObject {
  return eachMessage(stopNames(body), (message) => {
    if (!Array.isArray(message["tool_calls"]) || list(message, "tool_calls").length > 0) return message;
    const { tool_calls: _none, ...rest } = message;
    return rest;
  });
}

/** Reads a failure. A 403 means that prompt and answer together exceed the context. */
function readTogether(answer: FailedAnswer): UpstreamError | undefined {
  if (answer.status !== 403) return undefined;
  const read = general(answer, answer.json);
  const isContext =
    /context|max_(?:new_)?tokens|token/i.test(read.message) && object(answer.json as JsonObject, "error") !== undefined;
  return isContext
    ? upstreamError({ class: "bad_request", status: 400, message: read.message, code: "context_length_exceeded" })
    : undefined;
}

/** Names of files come from clients; a line break would end the field. */
function toPlainName(name: string): string {
  return name.replaceAll(/[^\w .()+-]/g, "_") || "requests.jsonl";
}

export const together = openaiCompatible({
  type: 1002,
  id: "together",
  label: "Together AI",
  baseUrl: "https://api.together.xyz",
  chatServer: { takesTopK: true },
  requestTransforms: [olderLimitName],
  models: [
    "meta-llama/Llama-3.3-70B-Instruct-Turbo",
    "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8",
    "openai/gpt-oss-120b",
    "openai/gpt-oss-20b",
    "deepseek-ai/DeepSeek-V3",
    "deepseek-ai/DeepSeek-R1",
    "Qwen/Qwen3-235B-A22B-Instruct-2507-tput",
    "moonshotai/Kimi-K2-Instruct",
    "black-forest-labs/FLUX.1-schnell",
    "BAAI/bge-large-en-v1.5",
  ],
  operations: [
    "chat",
    "completions",
    "embeddings",
    "rerank",
    "images.generations",
    "audio.speech",
    "audio.transcriptions",
  ],
  // Its own form of uploads; what else its store takes are data for training.
  files: {
    dialect: "openai",
    path: "/v1/files",
    uploadPath: "/v1/files/upload",
    purposes: ["batch"],
    writeFields: ({ name }) => ({ purpose: "batch-api", file_name: toPlainName(name) }),
  },
  batches: TOGETHER_BATCHES,
  responseTransforms: [reasoningName, oddities],
  classify: readTogether,
});
