import { OPENAI_BATCHES } from "../../core/batches.ts";
import type { Operation } from "../../../dialects/core/types.ts";
import { isObject, list } from "../../../dialects/core/read.ts";
import { entraToken, entraUrl, isEntraKey } from "./entra.ts";
import { general } from "../../core/errors/classify.ts";
import { listOpenAiModels } from "../../core/model-list.ts";
import { openaiCompatible, openaiRoute, type CompatibleOperation } from "../../core/openai-compatible.ts";
import { OPENAI_BREAKPOINTS } from "../openai/breakpoints.ts";
import { passBeta } from "../openai/openai.ts";
import { OPENAI_MODELS } from "../openai/models.ts";
import { needsHostedTools } from "../openai/hosted-tools.ts";
import { ownCode } from "../openai/own-code.ts";
import { needsResponses, reasoningParams, reasoningResponses } from "../openai/reasoning.ts";
import { eachChoice, onEvent } from "../../core/response-transforms/each-choice.ts";
import { usageOnFinish } from "../../core/response-transforms/usage-on-finish.ts";
import type {
  ResponseTransform,
  ChannelRecord,
  ProviderAdapter,
  SigningContext,
  UpstreamCall,
  UpstreamRoute,
} from "../../core/types.ts";
import type { FailedAnswer, UpstreamError } from "../../core/failed-answer.ts";

const OPERATIONS: readonly CompatibleOperation[] = [
  "chat",
  "completions",
  "responses",
  "embeddings",
  "images.generations",
  "images.edits",
  "audio.speech",
  "audio.transcriptions",
  "audio.translations",
  "realtime",
];

/** The first dated API version that has each operation; channels without a version use one of 2023. */
const SINCE: Partial<Record<Operation, string>> = { responses: "2025-03-01", realtime: "2024-10-01" };

/**
 * True if the versionless API is called. It has the model in the body; dated versions have the deployment in the path.
 * Operations that are newer than the channel's version exist only in the versionless API.
 */
function isVersionless({ other }: ChannelRecord, operation: Operation): boolean {
  if (other === "" || other === "v1" || other === "preview") return true;
  const since = SINCE[operation];
  return since !== undefined && /^\d{4}-\d{2}-\d{2}/.test(other) && other.slice(0, since.length) < since;
}

function createRoutePath(operation: Operation, task: string): UpstreamRoute["path"] {
  return (_spec, model, channel) => {
    const { other } = channel;
    if (isVersionless(channel, operation))
      return `/openai/v1/${task}${query({ "api-version": other === "preview" ? "preview" : undefined, ...realtime(operation, "model", model) })}`;
    const version = { "api-version": other };
    if (operation === "responses") return `/openai/responses${query(version)}`;
    const deployment = channel.setting["azure_strip_dots"] === true ? model.replaceAll(".", "") : model;
    if (operation === "realtime")
      return `/openai/realtime${query({ ...realtime(operation, "deployment", deployment), ...version })}`;
    return `/openai/deployments/${encodeURIComponent(deployment)}/${task}${query(version)}`;
  };
}

function realtime(operation: Operation, name: string, model: string): Record<string, string> {
  return operation === "realtime" ? { [name]: model } : {};
}

function query(parameters: Readonly<Record<string, string | undefined>>): string {
  const set = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return set.length === 0 ? "" : `?${new URLSearchParams(set).toString()}`;
}

function route(operation: CompatibleOperation): UpstreamRoute {
  const plain = openaiRoute(operation);
  const task = String(operation === "realtime" ? "/v1/realtime" : plain.path).slice("/v1/".length);
  const path = createRoutePath(operation, task);
  if (operation === "realtime") return { ...plain, path, query: ["api-version", "intent"] };
  const base: UpstreamRoute = { ...plain, path, query: ["api-version"] };
  if (operation !== "chat") return base;
  return {
    ...base,
    when: (spec, model, channel, body) =>
      channel.setting["responses_mode"] === "never" || !(needsResponses(model, body) || needsHostedTools(spec, body)),
  };
}

/**
 * Removes the first chunk if it holds only the filter's verdict on the prompt: clients that index `choices[0]` break on
 * it. A filter that runs in parallel with the model reports its verdicts in choices without a delta, which gets one
 * because clients read it without a check.
 */
const filterChunks: ResponseTransform = {
  name: "chunks of the content filter",
  marks: ["prompt_filter_results", "content_filter"],
  stream: () => (event) => {
    const isEmpty =
      event.data !== undefined &&
      list(event.data, "choices").length === 0 &&
      !isObject(event.data["usage"]) &&
      event.data["error"] === undefined;
    return isEmpty ? [] : withDeltas(event);
  },
};

const withDeltas = onEvent((chunk) =>
  eachChoice(chunk, (choice) => (choice["delta"] === undefined ? { ...choice, delta: {} } : choice)),
);

/** Reads a failure. An exceeded quota of a deployment is a rate limit, because the account is charged afterwards. */
function readAzure(answer: FailedAnswer): UpstreamError | undefined {
  if (answer.status !== 429) return undefined;
  const read = general(answer, answer.json);
  return { ...read, class: "rate_limit", retry: true, disable: false };
}

async function sign(call: UpstreamCall, channel: ChannelRecord, context: SigningContext): Promise<void> {
  passBeta(call, context);
  if (isEntraKey(context.key)) call.headers["authorization"] = `Bearer ${await entraToken(channel, context)}`;
  else call.headers["api-key"] = context.key;
}

const compatible = openaiCompatible({
  type: 3,
  id: "azure",
  telemetryName: "azure.ai.openai",
  label: "Azure OpenAI",
  baseUrl: "",
  models: OPENAI_MODELS,
  operations: OPERATIONS,
});

/** The pasted end of base URLs at the vendor's own hosts only, because a proxy may need the start of the path twice. */
const PASTED_END =
  /(?<=^https?:\/\/[^/]+\.(?:azure\.(?:com|us|cn)|microsoft\.com)(?::\d+)?(?:\/api\/projects\/[^/]+)?)\/openai(?:\/v1)?$/i;

/** Returns the path of a collection that belongs to the resource, not to a deployment. */
function storePath(channel: ChannelRecord, collection: "files" | "containers"): string {
  return isVersionless(channel, "chat")
    ? `/openai/v1/${collection}${query({ "api-version": channel.other === "preview" ? "preview" : undefined })}`
    : `/openai/${collection}${query({ "api-version": channel.other })}`;
}

export const azure: ProviderAdapter = {
  ...compatible,
  settings: { azure_strip_dots: "flag", entra_authority: "address" },
  otherUrls: (channel, key) => (isEntraKey(key) ? [entraUrl(channel, key)] : []),
  pastedEnd: PASTED_END,
  gatewayDrops: "/openai/deployments",
  speaks: OPERATIONS.map(route),
  authorize: sign,
  cacheMarks: OPENAI_BREAKPOINTS,
  files: {
    dialect: "openai",
    path: (channel) => storePath(channel, "files"),
    containersPath: (channel) => storePath(channel, "containers"),
    unsettledStates: ["pending", "running"],
  },
  batches: (channel) => ({
    ...OPENAI_BATCHES,
    maxItems: 100_000,
    ...(isVersionless(channel, "chat")
      ? {
          path: `/openai/v1/batches${query({ "api-version": channel.other === "preview" ? "preview" : undefined })}`,
          endpoints: ["/v1/chat/completions", "/v1/embeddings", "/v1/responses"],
        }
      : {
          path: `/openai/batches${query({ "api-version": channel.other })}`,
          endpoints: ["/chat/completions", "/embeddings"],
        }),
  }),
  ownedBy: "openai",
  billsRefusals: true,
  answersOtherNames: true,
  requestTransforms: [reasoningParams, reasoningResponses, ownCode],
  responseTransforms: [usageOnFinish, filterChunks],
  classify: readAzure,
  listModels: listOpenAiModels("/openai/v1/models", {
    pastedEnd: PASTED_END,
    headers: (_channel, key) => ({ "api-key": key }),
  }),
  keyHint: "API key, or tenant|client id|client secret",
  otherHint: "API version: v1, preview, or a date such as 2024-10-21; v1 when empty",
  otherDefault: "2023-06-01-preview",
};
