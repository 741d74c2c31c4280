import { list, object } from "../../../dialects/core/read.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { bearer } from "../../core/bearer.ts";
import { asObject } from "../../core/errors/error-body.ts";
import { openaiRoute } from "../../core/openai-compatible.ts";
import { chunked, fanOut, withBody } from "../../core/private/batched-embeddings.ts";
import { noDeveloperRole } from "../../core/request-transforms/roles.ts";
import { finishNames } from "../../core/response-transforms/finish-names.ts";
import { usageOnFinish } from "../../core/response-transforms/usage-on-finish.ts";
import { chatBridge, embedBridge, mergeEmbeddings } from "./chat.ts";
import { readTencentFailure } from "./failure.ts";
import { signTc3 } from "./tc3.ts";
import type { ChannelRecord, Exchange, ProviderAdapter, SigningContext, UpstreamCall } from "../../core/types.ts";
import { UpstreamRefusal } from "../../core/failed-answer.ts";
import { upstreamError } from "../../core/errors/upstream-error.ts";
import { vendorReader, type CodeTable } from "../../core/errors/vendor-error.ts";

const SIGNED = "https://hunyuan.tencentcloudapi.com";
const COMPATIBLE = "https://api.hunyuan.cloud.tencent.com";
const VERSION = "2023-09-01";

const CODES: CodeTable = {
  server: [
    "AuthFailure.SignatureExpire",
    "FailedOperation.ConsoleServerError",
    "FailedOperation.PartnerAccountUnSupport",
  ],
  timeout: ["FailedOperation.EngineRequestTimeout"],
  bad_key: ["AuthFailure*", "UnauthorizedOperation*"],
  out_of_credit: [
    "ResourceInsufficient*",
    "ResourceUnavailable*",
    "FailedOperation.FreeResourcePackExhausted",
    "FailedOperation.ResourcePackExhausted",
    "FailedOperation.ServiceStop*",
    "FailedOperation.ServiceNotActivated",
  ],
  rate_limit: ["LimitExceeded", "RequestLimitExceeded*", "FailedOperation.EngineServerLimitExceeded"],
  overloaded: ["FailedOperation.EngineServerError", "InternalError*"],
  content_filter: ["OperationDenied.TextIllegalDetected", "OperationDenied.ImageIllegalDetected", "sensitive"],
  not_found: ["InvalidParameterValue.Model"],
  bad_request: ["InvalidParameter*", "MissingParameter*"],
};

/**
 * Reads `Response.Error`, or the engine's own `ErrorMsg`, which have status 200 in answers and streams. An expired
 * signature means that this machine's clock is wrong.
 */
const readTencent = vendorReader({
  type: "tencent_error",
  codes: CODES,
  unknown: "server",
  native({ json }) {
    const root = asObject(json);
    const found = readTencentFailure(asObject(root?.["Response"]) ?? root);
    return found?.code === "AuthFailure.SignatureExpire" ? { ...found, retry: false } : found;
  },
});

function isPlainKey(key: string): boolean {
  return key !== "" && !key.includes("|");
}

const isPlain = (channel: ChannelRecord) => isPlainKey(channel.keys[0] ?? "");

/** Signs the content type, the host and the bytes that are sent. */
function sign(call: UpstreamCall, channel: ChannelRecord, context: SigningContext): void {
  if (isPlainKey(context.key)) return bearer(call, channel, context);
  const parts = context.key.split("|").map((part) => part.trim());
  const [secretId = "", secretKey = ""] = parts.slice(-2);
  if (parts.length < 2 || parts.length > 3 || secretId === "" || secretKey === "") {
    throw new UpstreamRefusal(
      upstreamError({
        class: "bad_key",
        status: 400,
        message: "The key must have the form AppId|SecretId|SecretKey.",
        code: "invalid_auth",
        param: "",
        disable: false,
      }),
    );
  }
  const contentType = "application/json";
  const action = call.body?.subarray(0, 16).includes("InputList") ? "GetEmbedding" : "ChatCompletions";
  const timestamp = Math.floor(context.now / 1000);
  const { authorization } = signTc3({
    secretId,
    secretKey,
    host: call.url.host,
    contentType,
    action,
    body: call.body ?? "",
    timestamp,
  });
  Object.assign(call.headers, {
    "content-type": contentType,
    "x-tc-action": action,
    "x-tc-version": VERSION,
    "x-tc-timestamp": String(timestamp),
    authorization,
  });
}

/** The most texts per call; every call is signed for its own bytes. */
const TEXTS_A_CALL = 50;

const embedExchange: Exchange = (call, context) => {
  const texts = list(parseObject(call.body?.toString("utf8") ?? ""), "InputList");
  if (texts.length <= TEXTS_A_CALL) return context.send(call);
  const send = (body: JsonObject) => {
    const part = withBody(call, body);
    sign(part, context.channel, context);
    return context.send(part);
  };
  return fanOut(
    chunked(texts, TEXTS_A_CALL).map((part): JsonObject => ({ InputList: part })),
    send,
    mergeEmbeddings,
    (answer) => readTencentFailure(object(answer, "Response")) !== undefined,
  );
};

export const tencent: ProviderAdapter = {
  type: 23,
  id: "tencent",
  label: "Tencent Hunyuan",
  baseUrl: "",
  base: (_channel, key) => (isPlainKey(key) ? COMPATIBLE : SIGNED),
  speaks: [
    {
      operation: "chat",
      dialect: "private:tencent-chat",
      path: "/",
      when: (_spec, _model, channel) => !isPlain(channel),
    },
    {
      operation: "embeddings",
      dialect: "private:tencent-embed",
      path: "/",
      exchange: embedExchange,
      when: (_spec, _model, channel) => !isPlain(channel),
    },
    { ...openaiRoute("chat"), when: (_spec, _model, channel) => isPlain(channel) },
    { ...openaiRoute("embeddings"), when: (_spec, _model, channel) => isPlain(channel) },
  ],
  authorize: sign,
  models: [
    "hunyuan-turbos-latest",
    "hunyuan-t1-latest",
    "hunyuan-large",
    "hunyuan-a13b",
    "hunyuan-vision",
    "hunyuan-functioncall",
    "hunyuan-embedding",
    "hunyuan-lite",
    "hunyuan-standard",
    "hunyuan-standard-256K",
    "hunyuan-pro",
  ],
  ownedBy: "tencent",
  streamUsage: true,
  bridges: [chatBridge, embedBridge],
  requestTransforms: [noDeveloperRole],
  responseTransforms: [usageOnFinish, finishNames({ sensitive: "content_filter" })],
  classify: readTencent,
  keyHint: "AppId|SecretId|SecretKey",
};
