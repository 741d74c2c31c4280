import { openaiCompatible } from "../../core/openai-compatible.ts";
import { reasoningName } from "../../core/transforms/reasoning-name.ts";

export const xinference = openaiCompatible({
  type: 47,
  id: "xinference",
  label: "Xinference",
  baseUrl: "",
  models: ["bge-reranker-v2-m3", "jina-reranker-v2"],
  responseTransforms: [reasoningName],
});
