import { openaiCompatible } from "../../core/openai-compatible.ts";
import { general } from "../../core/errors/classify.ts";
import { omitMembers } from "../../../dialects/core/json-edit.ts";
import { thinkingOff } from "../../core/request-transforms/thinking-off.ts";
import type { RequestTransform } from "../../core/types.ts";
import type { FailedAnswer, UpstreamError } from "../../core/failed-answer.ts";
import { upstreamError } from "../../core/errors/upstream-error.ts";

const EFFORT: Readonly<Record<string, string>> = { minimal: "low", xhigh: "high", max: "high" };

const effort: RequestTransform = {
  name: "low, medium or high effort, or a thinking budget",
  apply(body) {
    const asked = body["reasoning_effort"];
    if (body["thinking"] !== undefined) return omitMembers(body, ["reasoning_effort"]);
    const known = typeof asked === "string" ? EFFORT[asked] : undefined;
    return known === undefined ? body : { ...body, reasoning_effort: known };
  },
};

/** Reads a failure. Status 412 = the account is suspended; a proxy in front answers with a `fault` object. */
function readFireworks(answer: FailedAnswer): UpstreamError | undefined {
  if (answer.status !== 412) return undefined;
  return upstreamError({ class: "bad_key", status: 403, message: general(answer, answer.json).message });
}

export const fireworks = openaiCompatible({
  type: 1003,
  id: "fireworks",
  label: "Fireworks AI",
  baseUrl: "https://api.fireworks.ai/inference",
  models: [
    "accounts/fireworks/models/kimi-k2p6",
    "accounts/fireworks/models/glm-5",
    "accounts/fireworks/models/deepseek-v3p2",
    "accounts/fireworks/models/gpt-oss-120b",
    "accounts/fireworks/models/gpt-oss-20b",
    "accounts/fireworks/models/llama-v3p3-70b-instruct",
    "accounts/fireworks/models/qwen3-235b-a22b",
  ],
  operations: ["chat", "completions", "responses", "embeddings", "rerank"],
  chatServer: { takesTopK: true },
  requestTransforms: [thinkingOff(/gpt-oss|qwen3|glm-|kimi-k2p|deepseek-v/, { reasoning_effort: "none" }), effort],
  classify: readFireworks,
  keyHint: "fw_...",
});
