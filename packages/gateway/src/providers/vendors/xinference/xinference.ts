import { olderLimitName } from "../../core/request-transforms/output-limit.ts";
import { openaiCompatible } from "../../core/openai-compatible.ts";
import { reasoningName } from "../../core/response-transforms/reasoning-name.ts";

export const xinference = openaiCompatible({
  type: 47,
  id: "xinference",
  label: "Xinference",
  baseUrl: "",
  chatServer: { takesTopK: true, maxStops: Infinity },
  requestTransforms: [olderLimitName],
  models: ["bge-reranker-v2-m3", "jina-reranker-v2"],
  responseTransforms: [reasoningName],
});
