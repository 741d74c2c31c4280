import { olderLimitName } from "../../core/request-transforms/output-limit.ts";
import { bearer } from "../../core/bearer.ts";
import { listOpenAiModels, bearerHeaders } from "../../core/model-list.ts";
import { openaiCompatible } from "../../core/openai-compatible.ts";

const BASE = "https://models.github.ai/inference";
const HEADERS = { accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" };

/** The catalogue is at a path next to the inference paths. */
const listCatalog = listOpenAiModels("/catalog/models", {
  headers: (_channel, key) => ({ ...bearerHeaders(key), ...HEADERS }),
});

/** The vendor retired it on 2026-07-30; it remains so that existing channels load. */
export const github = openaiCompatible({
  type: 1004,
  id: "github",
  label: "GitHub Models",
  baseUrl: BASE,
  requestTransforms: [olderLimitName],
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
  listModels: (channel, ...rest) => {
    const baseUrl = new URL(channel.baseUrl || BASE).origin;
    return listCatalog({ ...channel, baseUrl }, ...rest);
  },
  retired: true,
});
