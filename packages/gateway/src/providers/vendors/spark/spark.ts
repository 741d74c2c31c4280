import { capAt } from "../../../dialects/core/requested-output.ts";
import { bearer } from "../../core/bearer.ts";
import { object } from "../../../dialects/core/read.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { asObject, asText, codeText } from "../../core/errors/error-body.ts";
import { openaiRoute } from "../../core/openai-compatible.ts";
import { noDeveloperRole } from "../../core/request-transforms/roles.ts";
import { usageOnFinish } from "../../core/response-transforms/usage-on-finish.ts";
import { chatBridge, sparkParams } from "./chat.ts";
import { sparkExchange } from "./exchange.ts";
import { httpAnswers } from "./http-answers.ts";
import { parseSparkKey, signSparkUrl } from "./sign.ts";
import { isSparkVersion, sparkVersion } from "./version.ts";
import type { ChannelRecord, ProviderAdapter, SigningContext, UpstreamCall } from "../../core/types.ts";
import type { FailedAnswer, UpstreamError } from "../../core/failed-answer.ts";
import { upstreamError } from "../../core/errors/upstream-error.ts";
import { vendorReader, type CodeTable } from "../../core/errors/vendor-error.ts";

const SOCKET = "wss://spark-api.xf-yun.com";
const HTTP = "https://spark-api-open.xf-yun.com";

const CODES: CodeTable = {
  bad_key: ["10005"],
  out_of_credit: ["11200", "11201"],
  rate_limit: ["11202", "11203", "10007"],
  overloaded: ["10008", "10110", "10222"],
  content_filter: ["10013", "10014", "10019"],
  bad_request: ["10163", "10907", "10404"],
};

const readFrame = vendorReader({
  type: "xunfei_error",
  codes: CODES,
  unknown: "server",
  native({ json }) {
    const root = asObject(json);
    const source = asObject(root?.["header"]) ?? asObject(root?.["error"]) ?? root;
    const code = codeText(source?.["code"]);
    if (!/^[1-9]\d*$/.test(code)) return undefined;
    return { code, message: asText(source?.["message"]) ?? "" };
  },
});

/**
 * Reads `header.code` of a frame. A refused handshake has only a message: with 401 the key is wrong, with 403 this
 * machine's clock is wrong.
 */
function readSpark(answer: FailedAnswer): UpstreamError | undefined {
  const read = readFrame(answer);
  if (read || (answer.status !== 401 && answer.status !== 403)) return read;
  const message = asText(asObject(answer.json)?.["message"]) ?? "The upstream refused the connection.";
  return upstreamError({
    class: answer.status === 401 ? "bad_key" : "server",
    message,
    type: "xunfei_error",
    code: "bad_response_status_code",
    param: String(answer.status),
  });
}

/** Sets the application and, if the client names a version, path and domain; then signs the URL. */
function sign(call: UpstreamCall, channel: ChannelRecord, context: SigningContext): void {
  if (isPlainKey(context.key)) return bearer(call, channel, context);
  const key = parseSparkKey(context.key);
  const body = parseObject(call.body?.toString("utf8") ?? "") ?? {};
  const asked = call.url.searchParams.get("api-version") ?? "";
  const chat = object(object(body, "parameter"), "chat");
  const version = isSparkVersion(asked) ? sparkVersion("", asked, "") : undefined;
  if (version) call.url.pathname = version.path;
  const parameter = version ? { chat: { ...chat, domain: version.domain } } : object(body, "parameter");
  call.body = Buffer.from(
    JSON.stringify({
      ...body,
      header: { app_id: key.appId, ...object(body, "header") },
      ...(parameter ? { parameter } : {}),
    }),
  );
  signSparkUrl(call.url, key, context.now);
}

/** True for a key without parts, which is for the HTTP interface; that one speaks the OpenAI protocol. */
function isPlainKey(key: string): boolean {
  return key !== "" && !key.includes("|");
}

const isPlain = (channel: ChannelRecord) => isPlainKey(channel.keys[0] ?? "");

export const spark: ProviderAdapter = {
  type: 18,
  id: "xunfei",
  label: "iFlytek Spark",
  baseUrl: "",
  base: (_channel, key) => (isPlainKey(key) ? HTTP : SOCKET),
  speaks: [
    {
      operation: "chat",
      dialect: "private:spark-chat",
      path: (_spec, model, channel) => sparkVersion(model, undefined, channel.other).path,
      query: ["api-version"],
      when: (_spec, _model, channel) => !isPlain(channel),
      exchange: sparkExchange,
    },
    { ...openaiRoute("chat"), when: (_spec, _model, channel) => isPlain(channel) },
  ],
  authorize: sign,
  models: ["SparkDesk", "SparkDesk-v1.1", "SparkDesk-v2.1", "SparkDesk-v3.1", "SparkDesk-v3.5", "SparkDesk-v4.0"],
  ownedBy: "xunfei",
  streamUsage: true,
  bridges: [chatBridge],
  requestedOutput: { "private:spark-chat": capAt("parameter.chat.max_tokens") },
  requestTransforms: [sparkParams, noDeveloperRole],
  responseTransforms: [httpAnswers, usageOnFinish],
  classify: readSpark,
  keyHint: "APPID|APISecret|APIKey",
  otherHint: "API version such as v2.1, for models whose name has none",
  otherDefault: "v2.1",
};
