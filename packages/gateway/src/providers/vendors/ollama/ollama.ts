import { capAt } from "../../../dialects/core/requested-output.ts";
import type { Bridge } from "../../../dialects/core/bridge.ts";
import { compact, count, list, text } from "../../../dialects/core/read.ts";
import { bearer } from "../../core/bearer.ts";
import { embeddingAnswer } from "../../core/embedding-input.ts";
import { listOpenAiModels } from "../../core/model-list.ts";
import { chatBridge } from "./chat.ts";
import { openaiRoute } from "../../core/openai-compatible.ts";
import type { ProviderAdapter } from "../../core/types.ts";
import { unaryBridge } from "../../core/unary-bridge.ts";

const BASE = "http://localhost:11434";
/** The end of a pasted base URL of the compatible or the native API. */
const PASTED_END = /\/(?:v1|api)$/;

const embedBridge: Bridge = unaryBridge({
  client: "openai-embeddings",
  upstream: "private:ollama-embed",
  request: (body, context) =>
    compact({
      model: context.upstreamModel,
      input: body["input"],
      dimensions: body["dimensions"],
      truncate: body["truncate"],
      options: body["options"],
      keep_alive: body["keep_alive"],
    }),
  response: (body, context) =>
    embeddingAnswer(
      text(body, "model") ?? context.spec.model,
      list(body, "embeddings"),
      count(body, "prompt_eval_count"),
    ),
});

export const ollama: ProviderAdapter = {
  type: 4,
  isKeyOptional: true,
  id: "ollama",
  label: "Ollama",
  baseUrl: BASE,
  localServers: [{ name: "Ollama", address: BASE }],
  pastedEnd: PASTED_END,
  speaks: [
    {
      operation: "chat",
      dialect: "private:ollama-chat",
      path: "/api/chat",
      framing: "json-lines",
      inlinesImages: true,
    },
    { operation: "embeddings", dialect: "private:ollama-embed", path: "/api/embed" },
    openaiRoute("completions"),
  ],
  authorize: bearer,
  models: ["llama3-7b"],
  ownedBy: "ollama",
  streamUsage: true,
  requestedOutput: { "private:ollama-chat": capAt("options.num_predict") },
  bridges: [chatBridge, embedBridge],
  listModels: listOpenAiModels("/api/tags", { base: BASE, pastedEnd: PASTED_END, list: "models", name: "model" }),
  keyHint: "empty for a local server",
};
