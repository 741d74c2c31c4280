import { olderLimitName } from "../../core/request-transforms/output-limit.ts";
import { openaiCompatible } from "../../core/openai-compatible.ts";
import { noDeveloperRole } from "../../core/request-transforms/roles.ts";

export const baichuan = openaiCompatible({
  type: 1006,
  id: "baichuan",
  label: "Baichuan",
  baseUrl: "https://api.baichuan-ai.com",
  models: [
    "Baichuan4",
    "Baichuan3-Turbo",
    "Baichuan3-Turbo-128k",
    "Baichuan2-Turbo",
    "Baichuan2-Turbo-192k",
    "Baichuan-Text-Embedding",
  ],
  operations: ["chat", "embeddings"],
  requestTransforms: [olderLimitName, noDeveloperRole],
  streamUsage: false,
});
