import { bearer } from "../../core/bearer.ts";
import { chatBridge } from "./chat.ts";
import { difyExchange } from "./exchange.ts";
import { difyIds } from "./ids.ts";
import { asObject, asText, codeText } from "../../core/errors/error-body.ts";
import type { ProviderAdapter, RequestTransform } from "../../core/types.ts";
import type { FailedAnswer, UpstreamError } from "../../core/failed-answer.ts";
import { vendorReader, type CodeTable } from "../../core/errors/vendor-error.ts";

const CODES: CodeTable = {
  bad_key: ["unauthorized"],
  out_of_credit: ["provider_quota_exceeded"],
  bad_request: [
    "invalid_param",
    "app_unavailable",
    "not_chat_app",
    "file_too_large",
    "unsupported_file_type",
    "not_found",
  ],
  not_found: ["model_currently_not_support"],
  server: ["provider_not_initialize", "completion_request_error", "internal_server_error"],
};

const read = vendorReader({
  type: "dify_error",
  codes: CODES,
  native({ json, status }) {
    const root = asObject(json);
    return status < 400 ? undefined : { code: codeText(root?.["code"]), message: asText(root?.["message"]) ?? "" };
  },
});

/** Reads `{code, message, status}`. The quota of the model behind the app is not the channel's own. */
function readDify(answer: FailedAnswer): UpstreamError | undefined {
  const found = read(answer);
  return found?.class === "out_of_credit" ? { ...found, disable: false } : found;
}

/** Requests a stream from agent apps, which support nothing else. */
const responseMode: RequestTransform = {
  name: "response mode by setting",
  on: ["private:dify-chat"],
  apply: (body, _spec, _model, { setting }) =>
    setting["response_mode"] === "streaming" ? { ...body, response_mode: "streaming" } : body,
};

export const dify: ProviderAdapter = {
  type: 37,
  id: "dify",
  label: "Dify",
  settings: { response_mode: ["streaming"] },
  baseUrl: "https://api.dify.ai",
  speaks: [
    { operation: "chat", dialect: "private:dify-chat", path: "/v1/chat-messages", exchange: difyExchange, ...difyIds },
  ],
  authorize: bearer,
  models: [],
  answersOtherNames: true,
  ownedBy: "dify",
  streamUsage: false,
  bridges: [chatBridge],
  requestTransforms: [responseMode],
  classify: readDify,
  keyHint: "app-...",
};
