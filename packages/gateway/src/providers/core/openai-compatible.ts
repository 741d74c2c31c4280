import type { DialectId, Operation } from "../../dialects/core/types.ts";
import { bearer } from "./bearer.ts";
import { isChatOnly } from "./chat-only.ts";
import { listOpenAiModels } from "./model-list.ts";
import { rerankUsage } from "./response-transforms/rerank-usage.ts";
import { usageOnFinish } from "./response-transforms/usage-on-finish.ts";
import type { ChannelRecord, FileService, ProviderAdapter, UpstreamRoute } from "./types.ts";

type Path = UpstreamRoute["path"];

/** Dialect and default path of every operation of the OpenAI protocol. */
const OPERATIONS = {
  chat: ["openai-chat", "/v1/chat/completions"],
  completions: ["openai-completions", "/v1/completions"],
  responses: ["openai-responses", "/v1/responses"],
  embeddings: ["openai-embeddings", "/v1/embeddings"],
  moderations: ["openai-moderations", "/v1/moderations"],
  rerank: ["rerank", "/v1/rerank"],
  "images.generations": ["openai-images", "/v1/images/generations"],
  "images.edits": ["openai-images", "/v1/images/edits"],
  "images.variations": ["openai-images", "/v1/images/variations"],
  "audio.speech": ["openai-audio", "/v1/audio/speech"],
  "audio.transcriptions": ["openai-audio", "/v1/audio/transcriptions"],
  "audio.translations": ["openai-audio", "/v1/audio/translations"],
  realtime: ["openai-realtime", "/v1/realtime"],
} as const satisfies Partial<Record<Operation, readonly [DialectId, string]>>;

export type CompatibleOperation = keyof typeof OPERATIONS;

/** The stateless operations that vendors of this protocol have in addition to chat. */
export const BEYOND_CHAT: readonly CompatibleOperation[] = [
  "completions",
  "embeddings",
  "moderations",
  "rerank",
  "images.generations",
  "images.edits",
  "images.variations",
  "audio.speech",
  "audio.transcriptions",
  "audio.translations",
];
const COMMON: readonly CompatibleOperation[] = ["chat", ...BEYOND_CHAT];

interface CompatiblePaths {
  /** Operations that the vendor has; default: all but responses and realtime. A channel switch adds responses. */
  readonly operations?: readonly CompatibleOperation[];
  /** Replaces `/v1` in the default paths. */
  readonly prefix?: string;
  /** Single paths that differ. */
  readonly paths?: Partial<Record<CompatibleOperation, Path>>;
}

type Required = "type" | "id" | "label" | "baseUrl" | "models";

export type CompatibleSpec = CompatiblePaths &
  Pick<ProviderAdapter, Required> &
  Partial<Omit<ProviderAdapter, Required | "speaks">>;

/** The files API of the protocol, for vendors that have it at its usual path. */
export const OPENAI_FILES: FileService = { dialect: "openai", path: "/v1/files" };

/** Builds a vendor that speaks the OpenAI protocol: bearer key, the client's own paths, unknown fields untouched. */
export function openaiCompatible(spec: CompatibleSpec): ProviderAdapter {
  const { operations = COMMON, prefix = "/v1", paths = {}, responseTransforms = [], ownedBy = spec.id, ...rest } = spec;
  return {
    streamUsage: true,
    authorize: bearer,
    listModels: listOpenAiModels(`${prefix}/models`, {
      base: rest.baseUrl,
      gatewayDrops: rest.gatewayDrops,
      pastedEnd: rest.pastedEnd,
    }),
    ...rest,
    ownedBy,
    responseTransforms: [usageOnFinish, rerankUsage, ...responseTransforms],
    speaks: withResponses(operations).map((operation) =>
      route(operation, paths[operation] ?? prefixed(operation, prefix), operations.includes(operation)),
    ),
  };
}

/** Adds responses to every vendor that has chat: the channel's switch decides whether it is used. */
function withResponses(operations: readonly CompatibleOperation[]): readonly CompatibleOperation[] {
  return operations.includes("chat") && !operations.includes("responses") ? [...operations, "responses"] : operations;
}

/** Builds a route of the OpenAI protocol, for adapters that are only partly compatible. */
export function openaiRoute(operation: CompatibleOperation, path?: Path): UpstreamRoute {
  return route(operation, path ?? prefixed(operation, "/v1"), true);
}

function prefixed(operation: CompatibleOperation, prefix: string): string {
  return prefix + OPERATIONS[operation][1].slice("/v1".length);
}

function route(operation: CompatibleOperation, path: Path, isOffered: boolean): UpstreamRoute {
  const base = { operation, dialect: OPERATIONS[operation][0], path };
  if (operation === "realtime") return { ...base, path: realtimePath(path), query: ["intent"] };
  if (operation === "responses") return { ...base, when: (_spec, _model, channel) => hasResponses(channel, isOffered) };
  return base;
}

function realtimePath(path: Path): Path {
  return (spec, model, channel, key) => {
    const start = typeof path === "string" ? path : path(spec, model, channel, key);
    return `${start}?model=${encodeURIComponent(model)}`;
  };
}

/** Reads the channel switch `responses_mode`: `never` and `always` overrule what the vendor is known to have. */
export function hasResponses(channel: ChannelRecord, isOffered: boolean): boolean {
  const mode = channel.setting["responses_mode"];
  if (mode === "never") return false;
  return mode === "always" || (isOffered && !isChatOnly(channel));
}
