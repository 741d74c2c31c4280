import { capAt } from "../../../dialects/core/requested-output.ts";
import { bearer } from "../../core/bearer.ts";
import { general } from "../../core/errors/classify.ts";
import { readErrorBody } from "../../core/errors/error-body.ts";
import { listOpenAiModels } from "../../core/model-list.ts";
import { openaiRoute } from "../../core/openai-compatible.ts";
import { agentBridge } from "./bridge.ts";
import type { ProviderAdapter } from "../../core/types.ts";
import type { FailedAnswer, UpstreamError } from "../../core/failed-answer.ts";
import { upstreamError } from "../../core/errors/upstream-error.ts";

const BASE = "https://api.perplexity.ai";

/**
 * Reads a failure. The vendor has its own types (`invalid_request`) and numbers as codes, so the class names the error.
 * Failed answers have status 200.
 */
function readPerplexity(answer: FailedAnswer): UpstreamError | undefined {
  const body = readErrorBody(answer.json);
  const hasFailed = /"status"\s*:\s*"(?:failed|cancelled)"/.test(answer.body.toString("utf8", 0, 4096));
  if (!body || (answer.status < 400 && !hasFailed)) return undefined;
  const read = general(answer, answer.json);
  const { class: errorClass, message, param, retryAfterMs } = read;
  return upstreamError({
    class: errorClass,
    message,
    param,
    retryAfterMs,
    status: answer.status < 400 ? 502 : answer.status,
  });
}

/** The Agent API; Sonar's chat completions ended on 2026-09-27. */
export const perplexity: ProviderAdapter = {
  type: 27,
  id: "perplexity",
  label: "Perplexity",
  settings: { protocol: ["sonar"] },
  baseUrl: BASE,
  speaks: [
    {
      operation: "chat",
      dialect: "private:perplexity-agent",
      path: "/v1/agent",
      when: (_spec, _model, { setting }) => setting["protocol"] !== "sonar",
    },
    {
      ...openaiRoute("chat", "/chat/completions"),
      when: (_spec, _model, { setting }) => setting["protocol"] === "sonar",
    },
    openaiRoute("embeddings"),
  ],
  authorize: bearer,
  models: [
    "sonar",
    "sonar-pro",
    "sonar-reasoning-pro",
    "sonar-deep-research",
    "llama-3-sonar-small-32k-chat",
    "llama-3-sonar-small-32k-online",
    "llama-3-sonar-large-32k-chat",
    "llama-3-sonar-large-32k-online",
    "llama-3-8b-instruct",
    "llama-3-70b-instruct",
    "mixtral-8x7b-instruct",
  ],
  ownedBy: "perplexity",
  streamUsage: false,
  requestedOutput: { "private:perplexity-agent": capAt("max_output_tokens") },
  bridges: [agentBridge],
  classify: readPerplexity,
  listModels: listOpenAiModels("/v1/models", { base: BASE }),
  keyHint: "pplx-...",
};
