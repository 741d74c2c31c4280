import { omitMembers } from "../../../dialects/core/json-edit.ts";
import type { RequestTransform } from "../../core/types.ts";
import { olderLimitName } from "../../core/request-transforms/output-limit.ts";
import { openaiCompatible } from "../../core/openai-compatible.ts";
import { noDeveloperRole } from "../../core/request-transforms/roles.ts";

/** Removes `stream_options` even if the client sent it, because the vendor refuses the whole request otherwise. */
const noStreamOptions: RequestTransform = {
  name: "without stream_options",
  apply: (body) => omitMembers(body, ["stream_options"]),
};

export const ai360 = openaiCompatible({
  type: 19,
  id: "ai360",
  label: "360 Smart Brain",
  baseUrl: "https://api.360.cn",
  models: [
    "360gpt-turbo",
    "360gpt-turbo-responsibility-8k",
    "360gpt-pro",
    "360gpt2-pro",
    "360GPT_S2_V9",
    "embedding-bert-512-v1",
    "embedding_s1_v1",
    "semantic_similarity_s1_v1",
  ],
  operations: ["chat", "embeddings", "images.generations"],
  requestTransforms: [olderLimitName, noStreamOptions, noDeveloperRole],
  streamUsage: false,
});
