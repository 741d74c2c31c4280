import { namedImages } from "../../../dialects/core/requested-output.ts";
import type { RequestedOutput } from "../../../dialects/core/types.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { createAnswerCapReader } from "../../core/requested-output.ts";
import { readVendorError, vendorReader, type CodeTable } from "../../core/errors/vendor-error.ts";
import { openaiCompatible } from "../../core/openai-compatible.ts";
import { noDeveloperRole } from "../../core/request-transforms/roles.ts";
import { thinkingOff } from "../../core/request-transforms/thinking-off.ts";

const CODES: CodeTable = {
  bad_key: ["AuthenticationError", "AccessDenied"],
  out_of_credit: ["AccountOverdueError", "QuotaExceeded"],
  rate_limit: ["RateLimitExceeded*", "SetLimitExceeded"],
  overloaded: ["ServerOverloaded"],
  not_found: ["InvalidEndpointOrModel*", "ModelNotOpen"],
  bad_request: ["InvalidParameter*", "MissingParameter*"],
  server: ["InternalServiceError"],
};

/** Reads a failure. The code names the part that was refused: `InputTextSensitiveContentDetected.PolicyViolation`. */
const readVolcEngine = vendorReader({
  type: "volcengine_error",
  codes: CODES,
  native(answer) {
    const error = readVendorError(answer);
    return error && /SensitiveContentDetected/.test(error.code) ? { ...error, class: "content_filter" } : error;
  },
});

const SERIES_LENGTHS = ["n", "max_images", "sequential_image_generation_options.max_images"];
/** The longest series of pictures, which the vendor may draw if a request does not limit it. */
const LONGEST_SERIES = 15;

/** Reads the number of pictures: a series has as many as the model chooses, up to its limit. */
function readSeries(body: JsonObject): RequestedOutput {
  const isSeries = body["sequential_image_generation"] === "auto";
  const images = namedImages(body, SERIES_LENGTHS) ?? (isSeries ? LONGEST_SERIES : 1);
  return { cap: undefined, answers: 1, images };
}

export const volcengine = openaiCompatible({
  type: 45,
  id: "volcengine",
  label: "VolcEngine (Doubao)",
  baseUrl: "https://ark.cn-beijing.volces.com",
  namedBases: { "doubao-coding-plan": "https://ark.cn-beijing.volces.com/api/coding/v3" },
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
  paths: {
    chat: (_spec, model) => (model.startsWith("bot") ? "/api/v3/bots/chat/completions" : "/api/v3/chat/completions"),
  },
  answersOtherNames: true,
  requestedOutput: { "openai-chat": createAnswerCapReader(), "openai-images": readSeries },
  requestTransforms: [noDeveloperRole, thinkingOff(/seed|deepseek-v[34]/i, { thinking: { type: "disabled" } })],
  classify: readVolcEngine,
});
