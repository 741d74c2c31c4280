import { capAt } from "../../../dialects/core/requested-output.ts";
import { bearer } from "../../core/bearer.ts";
import { general } from "../../core/errors/classify.ts";
import { chatBridge } from "./chat.ts";
import { embedBridge, embedExchange } from "./embed.ts";
import { rerankBridge } from "./rerank.ts";
import { isObject, text } from "../../../dialects/core/read.ts";
import { listOpenAiModels } from "../../core/model-list.ts";
import type { ProviderAdapter } from "../../core/types.ts";
import type { FailedAnswer, UpstreamError } from "../../core/failed-answer.ts";
import { upstreamError } from "../../core/errors/upstream-error.ts";

const BASE = "https://api.cohere.ai";

/** Reads a failure. The quota of trial keys ends with the month; an answer that finished with ERROR is a failure. */
function readCohere(answer: FailedAnswer): UpstreamError | undefined {
  if (answer.status === 200) {
    const reason = isObject(answer.json) ? text(answer.json, "finish_reason") : undefined;
    return reason === "ERROR" || reason === "TIMEOUT"
      ? upstreamError({ class: "server", message: "The upstream could not finish the answer." })
      : undefined;
  }
  const read = general(answer, answer.json);
  if (answer.status === 429 && /trial/i.test(read.message))
    return upstreamError({ class: "out_of_credit", status: 429, message: read.message });
  return undefined;
}

export const cohere: ProviderAdapter = {
  type: 34,
  id: "cohere",
  label: "Cohere",
  baseUrl: BASE,
  speaks: [
    { operation: "chat", dialect: "private:cohere-chat", path: "/v2/chat" },
    { operation: "embeddings", dialect: "private:cohere-embed", path: "/v2/embed", exchange: embedExchange },
    { operation: "rerank", dialect: "private:cohere-rerank", path: "/v2/rerank" },
  ],
  authorize: bearer,
  models: [
    "command-a-plus-05-2026",
    "command-a-03-2025",
    "command-a-reasoning-08-2025",
    "command-a-translate-08-2025",
    "command-a-vision-07-2025",
    "command-r7b-12-2024",
    "c4ai-aya-expanse-8b",
    "c4ai-aya-expanse-32b",
    "embed-v4.0",
    "rerank-v3.5",
    "command-r",
    "command-r-plus",
    "command-r-08-2024",
    "command-r-plus-08-2024",
    "c4ai-aya-23-35b",
    "c4ai-aya-23-8b",
    "command-light",
    "command-light-nightly",
    "command",
    "command-nightly",
    "rerank-english-v3.0",
    "rerank-multilingual-v3.0",
    "rerank-english-v2.0",
    "rerank-multilingual-v2.0",
  ],
  ownedBy: "cohere",
  streamUsage: false,
  requestedOutput: { "private:cohere-chat": capAt("max_tokens") },
  bridges: [chatBridge, embedBridge, rerankBridge],
  classify: readCohere,
  listModels: listOpenAiModels("/v1/models?page_size=1000", { base: BASE, list: "models", name: "name" }),
};
