import { olderLimitName } from "../../core/request-transforms/output-limit.ts";
import { openaiCompatible } from "../../core/openai-compatible.ts";
import { noDeveloperRole } from "../../core/request-transforms/roles.ts";

export const lingyi = openaiCompatible({
  type: 31,
  id: "lingyi",
  label: "Zero One Everything",
  baseUrl: "https://api.lingyiwanwu.com",
  ownedBy: "lingyiwanwu",
  models: [
    "yi-lightning",
    "yi-vision-v2",
    "yi-large",
    "yi-medium",
    "yi-vision",
    "yi-medium-200k",
    "yi-spark",
    "yi-large-rag",
    "yi-large-turbo",
    "yi-large-preview",
    "yi-large-rag-preview",
  ],
  operations: ["chat"],
  requestTransforms: [olderLimitName, noDeveloperRole],
  streamUsage: false,
});
