import { CLAUDE_MODELS } from "./models.ts";
import { anthropicFilter, FILTERS } from "./filter.ts";
import { ownRuns } from "./own-runs.ts";
import { findSmallestPrefix } from "./smallest-prefix.ts";
import { thinkingSuffix } from "./thinking-suffix.ts";
import { listOpenAiModels } from "../../core/model-list.ts";
import type { ChannelRecord, ProviderAdapter, SigningContext, UpstreamCall } from "../../core/types.ts";

const BASE = "https://api.anthropic.com";
const VERSION = "2023-06-01";

export const anthropic: ProviderAdapter = {
  type: 14,
  id: "claude",
  telemetryName: "anthropic",
  label: "Anthropic Claude",
  baseUrl: BASE,
  speaks: [
    { operation: "chat", dialect: "anthropic-messages", path: "/v1/messages", query: "all" },
    { operation: "count_tokens", dialect: "anthropic-count-tokens", path: "/v1/messages/count_tokens", query: "all" },
  ],
  batches: { protocol: "anthropic", path: "/v1/messages/batches", maxItems: 100_000, maxBytes: 256 * 1024 * 1024 },
  authorize: sign,
  files: { dialect: "anthropic", path: "/v1/files" },
  models: CLAUDE_MODELS,
  ownedBy: "claude",
  streamUsage: false,
  settings: { filters: FILTERS },
  requestTransforms: [thinkingSuffix, ownRuns],
  hostFilter: anthropicFilter,
  cacheMarks: { "anthropic-messages": findSmallestPrefix },
  listModels: listOpenAiModels("/v1/models?limit=1000", {
    base: BASE,
    headers: (channel, key) => buildHeaders(key, resolveVersion(channel, undefined)),
  }),
  keyHint: "sk-ant-...",
  otherHint: `API version, default ${VERSION}`,
};

function sign(call: UpstreamCall, channel: ChannelRecord, { key, clientHeaders }: SigningContext): void {
  Object.assign(call.headers, buildHeaders(key, resolveVersion(channel, clientHeaders["anthropic-version"])));
  const beta = clientHeaders["anthropic-beta"];
  if (beta !== undefined) call.headers["anthropic-beta"] = beta;
}

/** Returns the client's own version, else the channel's, else the vendor's current one. */
function resolveVersion(channel: ChannelRecord, asked: string | undefined): string {
  return asked ?? (channel.other === "" ? VERSION : channel.other);
}

/** Builds the headers. Sign-in tokens start with `sk-ant-oat` and are sent as bearer. */
function buildHeaders(key: string, version: string): Record<string, string> {
  const credential = key.startsWith("sk-ant-oat") ? { authorization: `Bearer ${key}` } : { "x-api-key": key };
  return { ...credential, "anthropic-version": version };
}
