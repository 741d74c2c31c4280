import type { JsonObject } from "../../../dialects/core/types.ts";
import { flag, list, object, text } from "../../../dialects/core/read.ts";
import { omitMembers } from "../../../dialects/core/json-edit.ts";
import { openaiCompatible, openaiRoute } from "../../core/openai-compatible.ts";
import { developerToSystem } from "../../core/request-transforms/roles.ts";
import { reasoningName } from "../../core/response-transforms/reasoning-name.ts";
import type { ChannelRecord, ProviderAdapter, RequestTransform, UpstreamRoute } from "../../core/types.ts";

/**
 * A server that speaks the OpenAI protocol under paths and headers of its own. The channel's settings describe them:
 * `paths` {operation: path}, `responses_mode`, `drop_params` [name], `max_tokens_field`, `no_developer_role`.
 */
const base = openaiCompatible({
  type: 1005,
  isKeyOptional: true,
  id: "compatible",
  label: "OpenAI-compatible",
  baseUrl: "",
  ownedBy: "custom",
  models: [],
  chatServer: { takesTopK: true, maxStops: Infinity },
  requestTransforms: [channelParams()],
  responseTransforms: [reasoningName],
  keyHint: "optional",
  settings: { paths: "paths", drop_params: "texts", max_tokens_field: "text", no_developer_role: "flag" },
});

export const compatible: ProviderAdapter = {
  ...base,
  localServers: [
    { name: "LM Studio", address: "http://localhost:1234" },
    { name: "llama.cpp", address: "http://localhost:8080" },
  ],
  speaks: [...base.speaks, openaiRoute("realtime")].map(freePath),
};

function freePath(route: UpstreamRoute): UpstreamRoute {
  const { operation, path } = route;
  return {
    ...route,
    path(spec, model, channel, key) {
      const own = text(object(channel.setting, "paths"), operation satisfies string);
      if (own !== undefined) return own.replaceAll("{model}", encodeURIComponent(model));
      return typeof path === "string" ? path : path(spec, model, channel, key);
    },
  };
}

/** Returns the repairs that an operator switches on for a server that refuses what others accept. */
function channelParams(): RequestTransform {
  return {
    name: "channel parameters",
    apply: (body, _spec, _model, channel) => withRoles(withLimit(withoutDropped(body, channel), channel), channel),
  };
}

function withoutDropped(body: JsonObject, { setting }: ChannelRecord): JsonObject {
  return omitMembers(
    body,
    list(setting, "drop_params").filter((name) => typeof name === "string"),
  );
}

function withLimit(body: JsonObject, { setting }: ChannelRecord): JsonObject {
  const wanted = text(setting, "max_tokens_field");
  const other = wanted === "max_tokens" ? "max_completion_tokens" : "max_tokens";
  if (wanted === undefined || body[other] === undefined) return body;
  const { [other]: limit, ...rest } = body;
  return { ...rest, [wanted]: rest[wanted] ?? limit };
}

function withRoles(body: JsonObject, { setting }: ChannelRecord): JsonObject {
  return flag(setting, "no_developer_role") ? developerToSystem(body) : body;
}
