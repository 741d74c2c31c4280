import { classOfCode, errorOf, vendorVerdict, type CodeTable } from "./verdict-vendor.ts";
import { openaiCompatible } from "./openai-compatible.ts";
import type { FailedAnswer, Verdict } from "./types.ts";

const CODES: CodeTable = {
  bad_key: ["AuthenticationError", "AccessDenied"],
  out_of_credit: ["AccountOverdueError", "QuotaExceeded"],
  rate_limit: ["RateLimitExceeded*", "SetLimitExceeded"],
  overloaded: ["ServerOverloaded"],
  content_filter: ["SensitiveContentDetected*"],
  not_found: ["InvalidEndpointOrModel*", "ModelNotOpen"],
  bad_request: ["InvalidParameter*", "MissingParameter*"],
  server: ["InternalServiceError"],
};

function readVolcEngine(answer: FailedAnswer): Verdict | undefined {
  const error = errorOf(answer);
  const errorClass = error && classOfCode(CODES, error.code);
  return errorClass && vendorVerdict(errorClass, { ...error, status: answer.status });
}

export const volcengine = openaiCompatible({
  type: 45,
  id: "volcengine",
  label: "VolcEngine (Doubao)",
  baseUrl: "https://ark.cn-beijing.volces.com",
  prefix: "/api/v3",
  models: [
    "Doubao-pro-128k",
    "Doubao-pro-32k",
    "Doubao-pro-4k",
    "Doubao-lite-128k",
    "Doubao-lite-32k",
    "Doubao-lite-4k",
    "Doubao-embedding",
  ],
  operations: ["chat", "embeddings", "images.generations"],
  paths: { chat: (_ask, model) => (model.startsWith("bot") ? "/api/v3/bots/chat/completions" : "/api/v3/chat/completions") },
  classify: readVolcEngine,
});
