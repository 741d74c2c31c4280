import { bearer } from "../../core/bearer.ts";
import { dashboardBalance } from "../openai/balance.ts";
import { OPENAI_MODELS } from "../openai/models.ts";
import { reasoningParams } from "../openai/reasoning.ts";
import { listOpenAiModels } from "../../core/model-list.ts";
import { BEYOND_CHAT, openaiRoute, type CompatibleOperation } from "../../core/openai-compatible.ts";
import { reasoningName } from "../../core/response-transforms/reasoning-name.ts";
import { usageOnFinish } from "../../core/response-transforms/usage-on-finish.ts";
import type { ChannelRecord, ProviderAdapter, UpstreamRoute } from "../../core/types.ts";

/**
 * The channel's base URL is the whole URL. `{model}` in it is replaced by the model, `{path}` by the path of the
 * request; without `{path}` the channel serves chat only.
 */
export const custom: ProviderAdapter = {
  type: 8,
  isKeyOptional: true,
  id: "custom",
  label: "Custom Channel",
  baseUrl: "",
  hasWholeUrl: true,
  speaks: [route("chat"), ...BEYOND_CHAT.map((operation) => ({ ...route(operation), when: hasPath }))],
  authorize: bearer,
  models: OPENAI_MODELS,
  ownedBy: "openai",
  streamUsage: true,
  chatServer: { takesTopK: true, maxStops: Infinity },
  requestTransforms: [reasoningParams],
  responseTransforms: [usageOnFinish, reasoningName],
  balance: (channel, ...rest) =>
    dashboardBalance("")({ ...channel, baseUrl: new URL(channel.baseUrl).origin }, ...rest),
  listModels(channel, ...rest) {
    if (!hasPath(undefined, "", channel)) throw new Error("the base URL has no {path}, so nothing but chat is known");
    return listOpenAiModels(filled(channel, "", "/v1/models"))(channel, ...rest);
  },
  otherHint: "The base URL is complete; {model} and {path} are filled in.",
};

function route(operation: CompatibleOperation): UpstreamRoute {
  const plain = openaiRoute(operation);
  return { ...plain, path: (_spec, model, channel) => filled(channel, model, String(plain.path)) };
}

function filled(channel: ChannelRecord, model: string, path: string): string {
  return channel.baseUrl.replaceAll("{model}", encodeURIComponent(model)).replaceAll("{path}", path.slice(1));
}

function hasPath(_spec: unknown, _model: string, channel: ChannelRecord): boolean {
  return channel.baseUrl.includes("{path}");
}
