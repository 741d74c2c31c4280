import { openaiCompatible } from "../../core/openai-compatible.ts";

export const moka = openaiCompatible({
  type: 44,
  id: "moka",
  label: "MokaAI",
  baseUrl: "https://api.moka.ai",
  ownedBy: "mokaai",
  models: ["m3e-large", "m3e-base", "m3e-small"],
  operations: ["embeddings"],
});
