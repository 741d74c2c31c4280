import { capAt } from "../../../dialects/core/requested-output.ts";
import { replaced } from "../../../dialects/core/json-edit.ts";
import { bearer } from "../../core/bearer.ts";
import { chatBridge, embedBridge } from "./chat.ts";
import { readBaidu } from "./errors.ts";
import { workshopPath } from "./paths.ts";
import { accessToken, dropToken, tokenUrl } from "./token.ts";
import { count, object, objects } from "../../../dialects/core/read.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { listOpenAiModels } from "../../core/model-list.ts";
import { openaiRoute } from "../../core/openai-compatible.ts";
import { batchedEmbeddings, chunked, fanOut, withBody } from "../../core/private/batched-embeddings.ts";
import { withFreshToken } from "../../core/private/fresh-token.ts";
import { noDeveloperRole } from "../../core/request-transforms/roles.ts";
import { finishNames } from "../../core/response-transforms/finish-names.ts";
import { usageOnFinish } from "../../core/response-transforms/usage-on-finish.ts";
import type {
  ChannelRecord,
  Exchange,
  ProviderAdapter,
  RequestTransform,
  SigningContext,
  UpstreamCall,
  UpstreamRoute,
} from "../../core/types.ts";

const FIRST = "https://aip.baidubce.com";
const SECOND = "https://qianfan.baidubce.com";
const TEXTS_A_CALL = 16;

const NEWER_KEY = "bce-v3/";

/**
 * True for the first API, where a pair of keys is exchanged for tokens. A key that starts with `bce-v3/`, or the newer
 * host, means the compatible API.
 */
function isFirst(channel: ChannelRecord, key: string): boolean {
  const { protocol } = channel.setting;
  if (protocol === "v1" || protocol === "v2") return protocol === "v1";
  if (key.startsWith(NEWER_KEY)) return false;
  return key.includes("|") || !channel.baseUrl.includes("qianfan.baidubce.com");
}

const isFirstChannel = (channel: ChannelRecord) => isFirst(channel, channel.keys[0] ?? "");

/** On codes 110 and 111 the token is no longer valid; it is fetched again once. */
const renewing = withFreshToken(
  async (_answer, body) => {
    const json = parseObject((await body()).toString("utf8"));
    return json?.["error_code"] === 110 || json?.["error_code"] === 111;
  },
  sign,
  ({ channel, key }) => dropToken(channel, key),
);

const embedExchange: Exchange = async (call, context) => {
  const body = call.body && parseObject(call.body.toString("utf8"));
  const input = body?.["input"];
  const limit = context.upstreamModel.toLowerCase() === "tao-8k" ? 1 : TEXTS_A_CALL;
  if (!body || !Array.isArray(input) || input.length <= limit) return renewing(call, context);
  const bodies = chunked(input, limit).map((part) => ({ ...body, input: part }));
  return fanOut(
    bodies,
    (part) => renewing(withBody(call, part), context),
    (answers) => ({
      data: answers.flatMap((answer) => [...objects(answer, "data")]),
      usage: {
        prompt_tokens: answers.reduce((sum, answer) => sum + (count(object(answer, "usage"), "prompt_tokens") ?? 0), 0),
      },
    }),
    (answer) => (count(answer, "error_code") ?? 0) !== 0,
  );
};

const secondEmbeddings: UpstreamRoute = {
  ...openaiRoute("embeddings", "/v2/embeddings"),
  exchange: batchedEmbeddings(() => TEXTS_A_CALL),
};

async function sign(call: UpstreamCall, channel: ChannelRecord, context: SigningContext): Promise<void> {
  if (!isFirst(channel, context.key)) return signSecond(call, channel, context);
  call.url.searchParams.set("access_token", await accessToken(channel, context));
}

/** Signs calls of the compatible API. Keys that are bound to an application name it: `bce-v3/ALTAK-...|app id`. */
function signSecond(call: UpstreamCall, channel: ChannelRecord, context: SigningContext): void {
  const [key = "", app = ""] = context.key.split("|").map((part) => part.trim());
  bearer(call, channel, { ...context, key });
  if (app !== "") call.headers["appid"] = app;
}

/** Sends model names in lower case: names of the first API are those of the second in capitals. */
const lowerCase: RequestTransform = {
  name: "model names in lower case",
  on: ["openai-chat", "openai-embeddings"],
  apply(body) {
    const { model } = body;
    return typeof model === "string" ? replaced(body, "model", model.toLowerCase()) : body;
  },
};

const second = {
  requestedOutput: { "private:baidu-chat": capAt("max_output_tokens") },
  requestTransforms: [lowerCase, noDeveloperRole],
  streamUsage: true,
  responseTransforms: [usageOnFinish, finishNames({ normal: "stop", function_call: "tool_calls" })],
  classify: readBaidu,
  ownedBy: "baidu",
} satisfies Partial<ProviderAdapter>;

export const baidu: ProviderAdapter = {
  ...second,
  type: 15,
  id: "baidu",
  label: "Baidu Wenxin Qianfan",
  settings: { protocol: ["v1", "v2"] },
  baseUrl: "",
  base: (channel, key) => (isFirst(channel, key) ? FIRST : SECOND),
  otherUrls: (channel) => [tokenUrl(channel), channel.baseUrl || SECOND],
  speaks: [
    {
      operation: "chat",
      dialect: "private:baidu-chat",
      path: (_spec, model) => workshopPath("chat", model),
      when: (_spec, _model, channel) => isFirstChannel(channel),
      exchange: renewing,
    },
    {
      operation: "embeddings",
      dialect: "private:baidu-embed",
      path: (_spec, model) => workshopPath("embeddings", model),
      when: (_spec, _model, channel) => isFirstChannel(channel),
      exchange: embedExchange,
    },
    { ...openaiRoute("chat", "/v2/chat/completions"), when: (_spec, _model, channel) => !isFirstChannel(channel) },
    { ...secondEmbeddings, when: (_spec, _model, channel) => !isFirstChannel(channel) },
  ],
  authorize: sign,
  models: [
    "ERNIE-4.0-8K",
    "ERNIE-3.5-8K",
    "ERNIE-3.5-8K-0205",
    "ERNIE-3.5-8K-1222",
    "ERNIE-Bot-8K",
    "ERNIE-3.5-4K-0205",
    "ERNIE-Speed-8K",
    "ERNIE-Speed-128K",
    "ERNIE-Lite-8K-0922",
    "ERNIE-Lite-8K-0308",
    "ERNIE-Tiny-8K",
    "BLOOMZ-7B",
    "Embedding-V1",
    "bge-large-zh",
    "bge-large-en",
    "tao-8k",
  ],
  bridges: [chatBridge, embedBridge],
  keyHint: "API key|secret key, or bce-v3/ALTAK-...[|app id]",
};

/** The compatible API as a channel type of its own, as in later compatible gateways. */
export const baiduV2: ProviderAdapter = {
  ...second,
  type: 46,
  id: "baidu_v2",
  label: "Baidu Qianfan V2",
  baseUrl: SECOND,
  speaks: [openaiRoute("chat", "/v2/chat/completions"), secondEmbeddings],
  authorize: signSecond,
  models: [
    "ernie-4.0-8k",
    "ernie-4.0-8k-latest",
    "ernie-4.0-turbo-8k",
    "ernie-4.0-turbo-128k",
    "ernie-3.5-8k",
    "ernie-3.5-128k",
    "ernie-speed-8k",
    "ernie-speed-128k",
    "ernie-speed-pro-128k",
    "ernie-lite-8k",
    "ernie-lite-pro-128k",
    "ernie-tiny-8k",
    "ernie-char-8k",
    "ernie-char-fiction-8k",
    "ernie-novel-8k",
    "deepseek-v3",
    "deepseek-r1",
    "deepseek-r1-distill-qwen-32b",
    "deepseek-r1-distill-qwen-14b",
  ],
  listModels: listOpenAiModels("/v2/models", { base: SECOND }),
  keyHint: "bce-v3/ALTAK-...[|app id]",
};
