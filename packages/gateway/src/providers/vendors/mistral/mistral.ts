import { MISTRAL_BATCHES } from "./batches.ts";
import { general } from "../../core/errors/classify.ts";
import { asObject, asText } from "../../core/errors/error-body.ts";
import { mistralAnswer } from "./answer.ts";
import { mistralEmbeddings, mistralParams } from "./request.ts";
import { OPENAI_FILES, openaiCompatible } from "../../core/openai-compatible.ts";
import type { FailedAnswer, UpstreamError } from "../../core/failed-answer.ts";
import { upstreamError } from "../../core/errors/upstream-error.ts";

/**
 * Reads a failure. The capacity of a service tier is shared within an account: another channel of the same account
 * would also exceed it, another account would not.
 */
function readMistral(answer: FailedAnswer): UpstreamError | undefined {
  const type = asText(asObject(answer.json)?.["type"]);
  if (answer.status === 400 && type === "invalid_model")
    return upstreamError({ class: "not_found", message: general(answer, answer.json).message });
  if (answer.status !== 429) return undefined;
  const { message } = general(answer, answer.json);
  return /capacity exceeded/i.test(message) ? upstreamError({ class: "overloaded", status: 429, message }) : undefined;
}

export const mistral = openaiCompatible({
  type: 42,
  id: "mistral",
  telemetryName: "mistral_ai",
  label: "Mistral AI",
  baseUrl: "https://api.mistral.ai",
  files: OPENAI_FILES,
  batches: MISTRAL_BATCHES,
  models: [
    "mistral-large-latest",
    "mistral-large-2512",
    "mistral-medium-latest",
    "mistral-medium-2604",
    "mistral-medium-2508",
    "mistral-small-latest",
    "mistral-small-2603",
    "magistral-medium-latest",
    "magistral-small",
    "devstral-latest",
    "devstral-2512",
    "devstral-medium-latest",
    "codestral-latest",
    "ministral-8b-latest",
    "ministral-3b-latest",
    "pixtral-large-latest",
    "pixtral-12b",
    "open-mistral-nemo",
    "open-mistral-7b",
    "open-mixtral-8x7b",
    "mistral-embed",
  ],
  operations: ["chat", "embeddings", "moderations", "audio.transcriptions"],
  streamUsage: false,
  requestTransforms: [mistralParams, mistralEmbeddings],
  responseTransforms: [mistralAnswer],
  classify: readMistral,
});
