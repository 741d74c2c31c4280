import { bearer } from "./bearer.ts";
import { listOpenAiModels, bearerHeaders } from "./model-list.ts";
import { openaiCompatible } from "./openai-compatible.ts";

const HEADERS = { accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" };

/** Retired by the vendor on 2026-07-30; kept so that existing channels load. */
export const github = openaiCompatible({
  type: 1004,
  id: "github",
  label: "GitHub Models",
  baseUrl: "https://models.github.ai/inference",
  models: [
    "openai/gpt-4.1",
    "openai/gpt-4.1-mini",
    "openai/gpt-4o",
    "openai/gpt-4o-mini",
    "openai/text-embedding-3-small",
  ],
  operations: ["chat", "embeddings"],
  prefix: "",
  authorize(call, channel, context) {
    bearer(call, channel, context);
    Object.assign(call.headers, HEADERS);
  },
  listModels: listOpenAiModels("https://models.github.ai/catalog/models", {
    headers: (_channel, key) => ({ ...bearerHeaders(key), ...HEADERS }),
  }),
  retired: true,
});
