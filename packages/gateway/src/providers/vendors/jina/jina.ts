import { openaiCompatible } from "../../core/openai-compatible.ts";
import type { ProviderAdapter } from "../../core/types.ts";

const compatible = openaiCompatible({
  type: 38,
  id: "jina",
  label: "Jina",
  baseUrl: "https://api.jina.ai",
  models: [
    "jina-embeddings-v4",
    "jina-embeddings-v3",
    "jina-code-embeddings-0.5b",
    "jina-code-embeddings-1.5b",
    "jina-clip-v2",
    "jina-reranker-v3",
    "jina-reranker-m0",
    "jina-colbert-v2",
    "jina-clip-v1",
    "jina-reranker-v2-base-multilingual",
  ],
  operations: ["rerank", "embeddings"],
  keyHint: "jina_...",
});

const { listModels: _none, ...rest } = compatible;

/** Its rerank protocol is the one that clients of compatible gateways use. It has no list of models. */
export const jina: ProviderAdapter = rest;
