import type { RequestSpec } from "../../../dialects/core/types.ts";
import { bearer } from "../../core/bearer.ts";
import { hasResponses, OPENAI_FILES, openaiCompatible, openaiRoute } from "../../core/openai-compatible.ts";
import { dashboardBalance } from "./balance.ts";
import { OPENAI_BREAKPOINTS } from "./breakpoints.ts";
import { needsHostedTools } from "./hosted-tools.ts";
import { OPENAI_MODELS } from "./models.ts";
import { ownCode } from "./own-code.ts";
import { needsResponses, reasoningParams, reasoningResponses } from "./reasoning.ts";
import { OPENAI_BATCHES } from "../../core/batches.ts";
import { listOpenAiModels } from "../../core/model-list.ts";
import { reasoningName } from "../../core/response-transforms/reasoning-name.ts";
import type { ChannelRecord, ProviderAdapter, SigningContext, UpstreamCall } from "../../core/types.ts";

const BASE = "https://api.openai.com";
/** Servers of open models, and gateways in front of them, at the operator's own base URL. */
const OPEN_SERVER = { takesTopK: true, maxStops: Infinity } as const;
const isVendor = (baseUrl: string) => /^https:\/\/[^/]*openai\.(?:com|azure\.com)(?:[:/]|$)/.test(baseUrl);

const compatible = openaiCompatible({
  type: 1,
  id: "openai",
  listsSavedModels: true,
  label: "OpenAI",
  baseUrl: BASE,
  gatewayDrops: "/v1",
  models: OPENAI_MODELS,
  operations: [
    "completions",
    "responses",
    "embeddings",
    "moderations",
    "rerank",
    "images.generations",
    "images.edits",
    "images.variations",
    "audio.speech",
    "audio.transcriptions",
    "audio.translations",
    "realtime",
  ],
  chatServer: ({ baseUrl }) => (baseUrl === "" || isVendor(baseUrl) ? undefined : OPEN_SERVER),
  requestTransforms: [reasoningParams, reasoningResponses, ownCode],
  responseTransforms: [reasoningName],
  balance: dashboardBalance(BASE),
  keyHint: "sk-...",
});

/** OpenAI, and every server that speaks its protocol at the channel's base URL. */
export const openai: ProviderAdapter = {
  ...compatible,
  speaks: [
    {
      ...openaiRoute("chat"),
      when: (spec, model, channel, body) =>
        !hasResponses(channel, true) || !(needsResponses(model, body) || needsHostedTools(spec, body)),
    },
    ...compatible.speaks,
    {
      operation: "count_tokens",
      dialect: "openai-input-tokens",
      path: "/v1/responses/input_tokens",
      when: isOnResponses,
    },
    { operation: "responses", dialect: "openai-compaction", path: "/v1/responses/compact", when: isOnResponses },
  ],
  authorize: signOpenAi,
  files: { ...OPENAI_FILES, partsPath: "/v1/uploads", containersPath: "/v1/containers" },
  batches: OPENAI_BATCHES,
  cacheMarks: OPENAI_BREAKPOINTS,
  listModels: listOpenAiModels("/v1/models", {
    base: BASE,
    gatewayDrops: "/v1",
    headers: (channel, key) => buildHeaders(channel, key),
  }),
};

function isOnResponses(_spec: RequestSpec, _model: string, channel: ChannelRecord): boolean {
  return hasResponses(channel, true);
}

function signOpenAi(call: UpstreamCall, channel: ChannelRecord, context: SigningContext): void {
  bearer(call, channel, context);
  if (channel.organization !== "") call.headers["openai-organization"] = channel.organization;
  passBeta(call, context);
}

/** Passes on the client's `openai-beta` header, such as the version of the realtime protocol. */
export function passBeta(call: UpstreamCall, { clientHeaders }: SigningContext): void {
  const beta = clientHeaders["openai-beta"];
  if (beta !== undefined) call.headers["openai-beta"] = beta;
}

function buildHeaders(channel: ChannelRecord, key: string): Record<string, string> {
  return {
    ...(key === "" ? {} : { authorization: `Bearer ${key}` }),
    ...(channel.organization === "" ? {} : { "openai-organization": channel.organization }),
  };
}
