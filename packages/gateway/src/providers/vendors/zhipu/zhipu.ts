import { batchedEmbeddings } from "../../core/private/batched-embeddings.ts";
import { bearer } from "../../core/bearer.ts";
import { refusedKey } from "../../core/errors/refused-key.ts";
import { zhipuToken } from "./jwt.ts";
import { readZhipu } from "./errors.ts";
import { v3Bridge } from "./v3.ts";
import { v4RequestTransforms, v4Repair, v4Routes } from "./v4.ts";
import { listOpenAiModels } from "../../core/model-list.ts";
import { usageOnFinish } from "../../core/response-transforms/usage-on-finish.ts";
import type { ChannelRecord, ProviderAdapter, SigningContext, UpstreamCall, UpstreamRoute } from "../../core/types.ts";

const BASE = "https://open.bigmodel.cn";

/** Routes of v4; embedding-2 takes one text per call. */
const routes = v4Routes.map((route): UpstreamRoute =>
  route.operation === "embeddings" ? { ...route, exchange: batchedEmbeddings(findBatchLimit) } : route,
);

function findBatchLimit(model: string): number {
  return model === "embedding-2" ? 1 : 64;
}

/**
 * Signs calls of GLM models with the key itself, or with a token built from it if the channel's setting has `auth:
 * "jwt"`.
 */
function signV4(call: UpstreamCall, channel: ChannelRecord, context: SigningContext): void {
  if (channel.setting["auth"] === "jwt") call.headers["authorization"] = zhipuToken(context.key, context.now);
  else bearer(call, channel, context);
}

const PLANS = {
  "glm-coding-plan": "https://open.bigmodel.cn/api/coding/paas/v4",
  "glm-coding-plan-international": "https://api.z.ai/api/coding/paas/v4",
};

export const zhipuV4: ProviderAdapter = {
  type: 26,
  id: "zhipu_4v",
  label: "Zhipu GLM-4V",
  settings: { auth: ["jwt"] },
  baseUrl: BASE,
  namedBases: PLANS,
  speaks: routes,
  authorize: signV4,
  models: [
    "glm-5",
    "glm-4.7",
    "glm-4.6",
    "glm-4.5",
    "glm-4.5-air",
    "glm-4.5v",
    "glm-4",
    "glm-4v",
    "glm-3-turbo",
    "glm-4-alltools",
    "glm-4-plus",
    "glm-4-0520",
    "glm-4-air",
    "glm-4-airx",
    "glm-4-long",
    "glm-4-flash",
    "glm-4v-plus",
    "cogview-3",
    "embedding-2",
    "embedding-3",
  ],
  ownedBy: "zhipu_4v",
  streamUsage: false,
  requestTransforms: v4RequestTransforms,
  responseTransforms: [v4Repair, usageOnFinish],
  classify: readZhipu,
  listModels: listOpenAiModels("/api/paas/v4/models", { base: BASE }),
  keyHint: "id.secret",
};

/** The first API (`chatglm_*`), and the routes of type 26 for newer names. */
export const zhipu: ProviderAdapter = {
  ...zhipuV4,
  type: 16,
  id: "zhipu",
  label: "Zhipu ChatGLM",
  settings: { auth: ["jwt"] },
  ownedBy: "zhipu",
  models: ["chatglm_turbo", "chatglm_pro", "chatglm_std", "chatglm_lite"],
  speaks: [
    {
      operation: "chat",
      dialect: "private:zhipu-v3",
      path: (ask, model) =>
        `/api/paas/v3/model-api/${encodeURIComponent(model)}/${ask.stream ? "sse-invoke" : "invoke"}`,
      framing: "text-events",
      when: (_spec, model) => isThird(model),
    },
    ...routes.map((route): UpstreamRoute => ({ ...route, when: (_spec, model) => !isThird(model) })),
  ],
  authorize(call, channel, context) {
    if (!call.url.pathname.includes("/v3/model-api/")) return signV4(call, channel, context);
    if (context.key === "") throw refusedKey("The channel has no key.");
    call.headers["authorization"] = zhipuToken(context.key, context.now);
  },
  bridges: [v3Bridge],
};

function isThird(model: string): boolean {
  return model.startsWith("chatglm_");
}
