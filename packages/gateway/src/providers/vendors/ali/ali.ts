import { imagesAt } from "../../../dialects/core/requested-output.ts";
import { object } from "../../../dialects/core/read.ts";
import { createAnswerCapReader } from "../../core/requested-output.ts";
import { bearer } from "../../core/bearer.ts";
import { chatBridge, isMultimodal, searchesWeb } from "./chat.ts";
import { readAli } from "./errors.ts";
import { imageExchange } from "./image-task.ts";
import { embedBridge, embedExchange, imageBridge, rerankBridge } from "./native.ts";
import { COMPATIBLE } from "./paths.ts";
import { siblingPath } from "../../core/join-url.ts";
import { clamped } from "../../../dialects/core/json-edit.ts";
import { listOpenAiModels } from "../../core/model-list.ts";
import { openaiRoute } from "../../core/openai-compatible.ts";
import { noDeveloperRole } from "../../core/request-transforms/roles.ts";
import { thinkingOff } from "../../core/request-transforms/thinking-off.ts";
import { usageOnFinish } from "../../core/response-transforms/usage-on-finish.ts";
import type {
  ChannelRecord,
  ProviderAdapter,
  RequestTransform,
  SigningContext,
  UpstreamCall,
} from "../../core/types.ts";

const BASE = "https://dashscope.aliyuncs.com";
const SERVICES = "/api/v1/services";

/** Models that think unless they are instructed not to. */
const HYBRID = /^(?:qwen3|qwen-(?:plus|turbo|flash))(?!.*(?:thinking|instruct|coder))/;

/** Models of the first generation, which are called in the native protocol that they were released with. */
const FIRST_GENERATION: ReadonlySet<string> = new Set(["qwen-turbo", "qwen-max-longcontext"]);

/**
 * True for the native protocol. The channel's setting decides (`native` or `compatible`), then the suffix for web
 * searches and the generation.
 */
function isNative(model: string, channel: ChannelRecord): boolean {
  const { protocol } = channel.setting;
  if (protocol === "native" || protocol === "compatible") return protocol === "native";
  return searchesWeb(model) || FIRST_GENERATION.has(model);
}

/** Clamps `top_p` only if the client sent it: without the field, the vendor's default applies. */
const topP: RequestTransform = {
  name: "top_p between 0.001 and 0.999",
  apply: (body) => clamped(body, "top_p", 0.001, 0.999),
};

const service = (channel: ChannelRecord, path: string) => siblingPath(channel.baseUrl, [COMPATIBLE], SERVICES + path);

function sign(call: UpstreamCall, channel: ChannelRecord, context: SigningContext): void {
  bearer(call, channel, context);
  if (channel.other !== "") call.headers["x-dashscope-plugin"] = channel.other;
  const { pathname } = call.url;
  if (pathname.includes("/text2image/")) call.headers["x-dashscope-async"] = "enable";
  const isStream = call.headers["accept"] === "text/event-stream";
  if (isStream && pathname.includes(`${SERVICES}/`)) call.headers["x-dashscope-sse"] = "enable";
}

export const ali: ProviderAdapter = {
  type: 17,
  id: "ali",
  label: "Ali Tongyi Qianwen",
  settings: { protocol: ["native", "compatible"] },
  baseUrl: BASE,
  speaks: [
    {
      operation: "chat",
      dialect: "private:ali-chat",
      path: (_spec, model, channel) =>
        service(channel, `/aigc/${isMultimodal(model) ? "multimodal" : "text"}-generation/generation`),
      when: (_spec, model, channel) => isNative(model, channel),
    },
    {
      ...openaiRoute("chat", `${COMPATIBLE}/chat/completions`),
      when: (_spec, model, channel) => !isNative(model, channel),
    },
    openaiRoute("completions", `${COMPATIBLE}/completions`),
    {
      operation: "embeddings",
      dialect: "private:ali-embed",
      path: (_spec, _model, channel) => service(channel, "/embeddings/text-embedding/text-embedding"),
      exchange: embedExchange,
    },
    {
      operation: "rerank",
      dialect: "private:ali-rerank",
      path: (_spec, _model, channel) => service(channel, "/rerank/text-rerank/text-rerank"),
    },
    {
      operation: "images.generations",
      dialect: "private:ali-image",
      path: (_spec, _model, channel) => service(channel, "/aigc/text2image/image-synthesis"),
      when: (ask) => ask.operation === "images.generations",
      exchange: imageExchange,
    },
  ],
  authorize: sign,
  models: [
    "qwen-turbo",
    "qwen-plus",
    "qwen-max",
    "qwen-max-longcontext",
    "qwen-vl-plus",
    "qwen-vl-max",
    "qwq-32b",
    "qwen3-235b-a22b",
    "text-embedding-v1",
    "text-embedding-v2",
    "text-embedding-v3",
    "gte-rerank-v2",
    "wanx-v1",
  ],
  ownedBy: "ali",
  streamUsage: true,
  bridges: [chatBridge, embedBridge, rerankBridge, imageBridge],
  requestedOutput: {
    "openai-chat": createAnswerCapReader(),
    "private:ali-chat": createAnswerCapReader((body) => object(body, "parameters") ?? {}),
    "private:ali-image": imagesAt("parameters.n"),
  },
  chatServer: { takesTopK: true },
  requestTransforms: [topP, noDeveloperRole, thinkingOff(HYBRID, { enable_thinking: false })],
  responseTransforms: [usageOnFinish],
  classify: readAli,
  listModels: listOpenAiModels(`${COMPATIBLE}/models`, { base: BASE }),
  otherHint: "Plug-in JSON for X-DashScope-Plugin",
};
