import type { StoredCall } from "../stateful/read-stored.ts";
import type { DialectId, ErrorDialect, Operation } from "../../dialects/core/types.ts";
import { allProviders } from "../../providers/registry.ts";

/** The meaning of a path below a relay prefix. */
export type RouteMatch =
  | {
      readonly kind: "relay";
      readonly operation: Operation;
      readonly dialect: DialectId;
      readonly errors: ErrorDialect;
      readonly pathModel: string | undefined;
      readonly isStreamPath: boolean;
      readonly isPlayground: boolean;
    }
  | { readonly kind: "models"; readonly model: string | undefined; readonly prefix: "v1" | "v1beta" }
  | { readonly kind: "billing"; readonly read: "subscription" | "usage" }
  | ({ readonly kind: "stored"; readonly errors: ErrorDialect } & StoredCall)
  | { readonly kind: "container"; readonly errors: ErrorDialect }
  | { readonly kind: "task"; readonly errors: ErrorDialect }
  /** Files; vendors share the paths below /v1. */
  | { readonly kind: "object"; readonly errors: ErrorDialect }
  | { readonly kind: "batch"; readonly errors: ErrorDialect }
  | { readonly kind: "cache"; readonly errors: ErrorDialect }
  | { readonly kind: "upgrade"; readonly errors: ErrorDialect }
  | { readonly kind: "unimplemented"; readonly errors: ErrorDialect; readonly message?: string }
  | { readonly kind: "wrong-method"; readonly allow: string; readonly errors: ErrorDialect }
  | { readonly kind: "unknown"; readonly errors: ErrorDialect };

interface Post {
  readonly operation: Operation;
  readonly dialect: DialectId;
  readonly errors?: ErrorDialect;
}

const POSTS: ReadonlyMap<string, Post> = new Map<string, Post>([
  ["/v1/chat/completions", { operation: "chat", dialect: "openai-chat" }],
  ["/v1/completions", { operation: "completions", dialect: "openai-completions" }],
  ["/v1/responses", { operation: "responses", dialect: "openai-responses", errors: "openai-responses" }],
  ["/v1/responses/compact", { operation: "responses", dialect: "openai-compaction", errors: "openai-responses" }],
  [
    "/v1/responses/input_tokens",
    { operation: "count_tokens", dialect: "openai-input-tokens", errors: "openai-responses" },
  ],
  ["/v1/embeddings", { operation: "embeddings", dialect: "openai-embeddings" }],
  ["/v1/moderations", { operation: "moderations", dialect: "openai-moderations" }],
  ["/v1/rerank", { operation: "rerank", dialect: "rerank" }],
  ["/v2/rerank", { operation: "rerank", dialect: "rerank" }],
  ["/v1/images/generations", { operation: "images.generations", dialect: "openai-images" }],
  ["/v1/images/edits", { operation: "images.edits", dialect: "openai-images" }],
  ["/v1/images/variations", { operation: "images.variations", dialect: "openai-images" }],
  ["/v1/audio/transcriptions", { operation: "audio.transcriptions", dialect: "openai-audio" }],
  ["/v1/audio/translations", { operation: "audio.translations", dialect: "openai-audio" }],
  ["/v1/audio/speech", { operation: "audio.speech", dialect: "openai-audio" }],
  ["/v1/messages", { operation: "chat", dialect: "anthropic-messages", errors: "anthropic" }],
  ["/v1/messages/count_tokens", { operation: "count_tokens", dialect: "anthropic-count-tokens", errors: "anthropic" }],
  ["/v1beta/openai/chat/completions", { operation: "chat", dialect: "openai-chat" }],
  ["/v1beta/openai/embeddings", { operation: "embeddings", dialect: "openai-embeddings" }],
]);

/** Paths that exist in the protocols but have no answer here yet: 501 in the caller's envelope. */
const UNIMPLEMENTED = [
  /^\/v1\/(edits|conversations|fine_tuning|fine-tunes|assistants|threads|vector_stores|evals)(\/|$)/,
  /^\/(v1|v1beta)\/(interactions|fileSearchStores|auth_tokens)(\/|$)/,
  /^\/v1\/videos\/[^/]+\/(?!content$).+/,
  /^\/v1\/realtime\/.+/,
  /^\/v1\/chat\/completions\/.+/,
];

/** The same, with what clients can do instead. */
const REPLACED: readonly (readonly [RegExp, string])[] = [
  [
    /^\/(upload\/)?(v1|v1beta)\/files([/:]|$)/,
    "This API is not implemented: send files inside of the request instead.",
  ],
];

const GEMINI_VERBS: ReadonlyMap<string, Post & { stream: boolean }> = new Map([
  ["generateContent", { operation: "chat", dialect: "gemini-generate", stream: false }],
  ["streamGenerateContent", { operation: "chat", dialect: "gemini-generate", stream: true }],
  ["embedContent", { operation: "embeddings", dialect: "gemini-embed", stream: false }],
  ["batchEmbedContents", { operation: "embeddings", dialect: "gemini-embed", stream: false }],
  ["countTokens", { operation: "count_tokens", dialect: "gemini-count-tokens", stream: false }],
]);

/** Names of the vendors of videos; their own paths begin with these names. */
const VIDEOS = allProviders.flatMap(({ id, videos }) => (videos ? [id] : [])).join("|");
const PREFIX = new RegExp(
  `^/(v1|v1beta|(?:upload|download)/(?:v1|v1beta)|v2|pg|mj|suno|dashboard|mj-(fast|relax|turbo)|${VIDEOS})(/|$)`,
);
const BILLING = /^(\/v1)?\/dashboard\/billing\/(subscription|usage)$/;
const GEMINI = /^\/(?:v1|v1beta)\/(?:models|tunedModels)\/(.+):([A-Za-z]+)$/;
const MODELS = /^\/(v1|v1beta|v1beta\/openai)\/models(?:\/(.+?))?\/?$/;
const TASKS = new RegExp(
  `^/(?:(?:(?:mj-(?:fast|relax|turbo)/)?mj|suno|${VIDEOS})/.+|v1/video/generations(?:/[^/]+)?$|v1/videos(?:/[^/]+(?:/content)?)?$)`,
);
const FILES =
  /^\/(?:(?:upload\/)?(?:v1|v1beta)\/files|(?:v1|v1beta)\/files\/[^/]+(?:\/content)?|download\/(?:v1|v1beta)\/files\/[^/:]+:download)$/;
const UPLOADS = /^\/v1\/uploads(?:\/[^/]+\/(?:parts|complete|cancel))?$/;
const BATCHES = /^\/(?:v1\/messages|v1|v1beta)\/batches(\/|$)/;
const CACHES = /^\/(?:v1|v1beta)\/cachedContents(?:\/[^/]+)?$/;
const GEMINI_BATCHES: ReadonlySet<string> = new Set(["batchGenerateContent", "asyncBatchEmbedContent"]);
const STORED = /^\/v1\/responses\/([\w.:-]{1,191})(\/cancel|\/input_items)?$/;
/** Containers, one of them, its files, one of them, and its content. */
const CONTAINERS = /^\/v1\/containers(?:\/[^/]+(?:\/files(?:\/[^/]+(?:\/content)?)?)?)?$/;
const ENGINE = /^\/v1\/engines\/(.+)\/embeddings$/;

/** True for every path whose answers belong to the relay, known or not. */
export function isRelayPath(path: string): boolean {
  return PREFIX.test(path);
}

/** Reads method and path (without query); pure, and allocates only the answer. */
export function matchRoute(method: string, path: string): RouteMatch {
  const post = POSTS.get(path);
  if (post) return method === "POST" ? relay(post) : wrongMethod("POST", post.errors);
  if (path === "/pg/chat/completions") {
    const playground: Post = { operation: "chat", dialect: "openai-chat" };
    return method === "POST" ? { ...relay(playground), isPlayground: true } : wrongMethod("POST", undefined);
  }
  return (
    matchGemini(method, path) ?? matchModels(method, path) ?? matchSpecial(method, path) ?? matchRest(method, path)
  );
}

function matchGemini(method: string, path: string): RouteMatch | undefined {
  const found = GEMINI.exec(path);
  if (!found) return undefined;
  const verb = GEMINI_VERBS.get(found[2] ?? "");
  if (GEMINI_BATCHES.has(found[2] ?? "")) return method === "GET" ? undefined : { kind: "batch", errors: "gemini" };
  // Model names may contain a colon too: a GET names a model.
  if (!verb) return method === "GET" ? undefined : (replaced(path, "gemini") ?? { kind: "unknown", errors: "gemini" });
  if (method !== "POST") return wrongMethod("POST", "gemini");
  return { ...relay({ ...verb, errors: "gemini" }), pathModel: found[1] ?? "", isStreamPath: verb.stream };
}

function matchModels(method: string, path: string): RouteMatch | undefined {
  const found = MODELS.exec(path);
  if (!found) return undefined;
  const errors: ErrorDialect = found[1] === "v1beta" ? "gemini" : "openai";
  if (method === "GET") return { kind: "models", model: found[2], prefix: found[1] === "v1beta" ? "v1beta" : "v1" };
  return method === "DELETE" && found[2] !== undefined ? { kind: "unimplemented", errors } : wrongMethod("GET", errors);
}

/** Paths with their own handlers. */
function matchSpecial(method: string, path: string): RouteMatch | undefined {
  if (TASKS.test(path)) return { kind: "task", errors: "openai" };
  const stored = STORED.exec(path);
  if (stored) return matchStored(method, stored[1] ?? "", (stored[2] ?? "") as StoredCall["rest"]);
  const left = matchLeft(path);
  if (left) return left;
  if (path === "/v1/realtime") return { kind: "upgrade", errors: "openai" };
  return undefined;
}

/** Matches calls about what clients leave at upstreams. */
function matchLeft(path: string): RouteMatch | undefined {
  if (FILES.test(path)) return { kind: "object", errors: findErrorDialect(path) };
  if (UPLOADS.test(path)) return { kind: "object", errors: "openai" };
  if (BATCHES.test(path)) return { kind: "batch", errors: findErrorDialect(path) };
  if (CONTAINERS.test(path)) return { kind: "container", errors: "openai" };
  return CACHES.test(path) ? { kind: "cache", errors: "gemini" } : undefined;
}

function matchRest(method: string, path: string): RouteMatch {
  const engine = ENGINE.exec(path);
  if (engine) {
    const embed: Post = { operation: "embeddings", dialect: "openai-embeddings" };
    return method === "POST" ? { ...relay(embed), pathModel: engine[1] ?? "" } : wrongMethod("POST", undefined);
  }
  const billing = BILLING.exec(path);
  if (billing)
    return method === "GET"
      ? { kind: "billing", read: billing[2] === "usage" ? "usage" : "subscription" }
      : wrongMethod("GET", undefined);
  const errors = findErrorDialect(path);
  const kind = UNIMPLEMENTED.some((pattern) => pattern.test(path)) ? "unimplemented" : "unknown";
  return replaced(path, errors) ?? { kind, errors };
}

function replaced(path: string, errors: ErrorDialect): RouteMatch | undefined {
  const message = REPLACED.find(([pattern]) => pattern.test(path))?.[1];
  return message === undefined ? undefined : { kind: "unimplemented", errors, message };
}

/** Matches calls about a response that the upstream stores. */
function matchStored(method: string, id: string, rest: StoredCall["rest"]): RouteMatch {
  const allowed = rest === "" ? ["GET", "DELETE"] : [rest === "/cancel" ? "POST" : "GET"];
  if (!allowed.includes(method)) return wrongMethod(allowed.join(", "), "openai-responses");
  return { kind: "stored", method: method as StoredCall["method"], id, rest, errors: "openai-responses" };
}

function relay(post: Post): Extract<RouteMatch, { kind: "relay" }> {
  return {
    kind: "relay",
    operation: post.operation,
    dialect: post.dialect,
    errors: post.errors ?? "openai",
    pathModel: undefined,
    isStreamPath: false,
    isPlayground: false,
  };
}

function wrongMethod(allow: string, errors: ErrorDialect | undefined): RouteMatch {
  return { kind: "wrong-method", allow, errors: errors ?? "openai" };
}

/** Returns the error protocol that callers of a prefix read. */
export function findErrorDialect(path: string): ErrorDialect {
  if (path.startsWith("/v1/messages")) return "anthropic";
  if (path.startsWith("/upload/") || path.startsWith("/download/")) return "gemini";
  if (path.startsWith("/v1beta/") && !path.startsWith("/v1beta/openai/")) return "gemini";
  return "openai";
}
