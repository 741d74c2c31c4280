// Members of requests that an upstream's account may resolve: at an account that users share, anyone who knows the id
// of a user's object could read it. Both the check of requests and the names of members use this table. Tasks have a
// rule instead, because their vendors name ids alike: tasks/task-ids.ts.
import { isSet, text } from "./core/read.ts";
import type { DialectId, JsonObject } from "./core/types.ts";

/**
 * `owned` = only ids that an answer to the same user named; `derived` = the upstream gets a different value for each
 * user; `listed` = the operator's ids, from the channel's setting `shared_ids`; `refused` = never. `owned` and `listed`
 * each accept what the other accepts.
 */
type IdTreatment = "owned" | "derived" | "listed" | "refused";

/** The kind of object that an id names, for the error about an unknown id. */
export type IdKind =
  | "response"
  | "conversation"
  | "item"
  | "approval"
  | "file"
  | "container"
  | "cached content"
  | "audio"
  | "store"
  | "prompt"
  | "skill"
  | "voice"
  | "end user"
  | "data source";

/** How an id is treated that its object does not need. */
export type SpareId = "derived" | "dropped";

export interface IdRule {
  /** Member names joined by dots; a list stands for its items. */
  readonly path: string;
  readonly treatment: IdTreatment;
  readonly kind: IdKind;
  /** Returns false for values that name nothing at an account; absent = every value is an id. */
  readonly isId?: (value: string, owner: JsonObject) => boolean;
  /**
   * Set if the object may also contain everything that the id stands for: then an unknown id is replaced or left out.
   */
  readonly spare?: (owner: JsonObject) => SpareId | undefined;
  /** The id is looked up, and a conversion decides whether it reads it. */
  readonly isOptional?: true;
  /** The id is checked when the request is bound to the account that stores what it continues. */
  readonly isBound?: true;
}

function rules(
  treatment: IdTreatment,
  kind: IdKind,
  paths: string,
  more: Omit<IdRule, "path" | "treatment" | "kind"> = {},
): IdRule[] {
  return paths.split(" ").map((path) => ({ path, treatment, kind, ...more }));
}

function below(prefix: string, inner: readonly IdRule[]): IdRule[] {
  return inner.map((rule) => ({ ...rule, path: `${prefix}.${rule.path}` }));
}

const PUBLIC_ADDRESS = /^(?:https?|data):/i;
const OTHER_SCHEME = /^[a-z][a-z0-9+.-]*:/i;
/** Google names uploaded files by addresses of its API, or by their paths in it. */
const FILE_ADDRESS = /(?:^|\/v\d\w*\/|googleapis\.com\/(?:.*\/)?)files\/[^/]+$/i;

/** True for addresses that only the account can open (`gs:`, `ms:`, `files/…`); public addresses name no object. */
function isPrivateAddress(value: string): boolean {
  const bare = value.slice(0, 2_048).split(/[?#]/, 1)[0] ?? "";
  if (FILE_ADDRESS.test(bare) && !/^data:/i.test(bare)) return true;
  return OTHER_SCHEME.test(bare) && !PUBLIC_ADDRESS.test(bare);
}

/** True for a file's id, or for its address if a conversion takes both. */
function isFile(value: string): boolean {
  return !PUBLIC_ADDRESS.test(value) || isPrivateAddress(value);
}

function isText(value: JsonObject[string]): boolean {
  return typeof value === "string" ? value !== "" : Array.isArray(value) && value.length > 0;
}

/** Items with only an id are references. Sealed content is bound to its id, which may be absent. */
function spareItem(item: JsonObject): SpareId | undefined {
  switch (text(item, "type")) {
    case "item_reference":
      return undefined;
    case "reasoning":
      return ["encrypted_content", "summary", "content"].some((name) => isText(item[name])) ? "dropped" : undefined;
    case "compaction":
      return isText(item["encrypted_content"]) ? "dropped" : undefined;
    case "image_generation_call":
      return isText(item["result"]) ? "derived" : undefined;
    case undefined:
      return isSet(item["role"]) || isSet(item["content"]) ? "derived" : undefined;
    default:
      return "derived";
  }
}

const address = { isId: isPrivateAddress };
const END_USER = rules("derived", "end user", "user safety_identifier prompt_cache_key");
const TOOL_STORES =
  "tools.vector_store_ids tools.collection_ids tools.library_ids tools.knowledge_id tools.retrieval.knowledge_id";

const RESPONSES: readonly IdRule[] = [
  ...END_USER,
  ...rules("owned", "response", "previous_response_id", { isBound: true }),
  ...rules("owned", "conversation", "conversation conversation.id", { isBound: true }),
  ...rules("listed", "prompt", "prompt.id"),
  ...rules("owned", "item", "input.id", { spare: spareItem }),
  ...rules("owned", "approval", "input.approval_request_id", {
    spare: (item) => (item["type"] === "mcp_approval_response" ? undefined : "derived"),
  }),
  ...rules("owned", "container", "input.container_id", { spare: () => "derived" }),
  ...rules("listed", "file", "input.file_id input.content.file_id input.output.file_id input.file_ids"),
  ...rules("listed", "file", "input.content.image_url input.content.file_url input.image_url", address),
  ...rules("listed", "file", "input.output.image_url input.output.file_url", address),
  ...rules("owned", "container", "container tools.container tools.container.id tools.container.container_id"),
  ...rules("owned", "container", "tools.environment.container_id"),
  ...rules("listed", "file", "tools.container.file_ids tools.environment.file_ids tools.input_image_mask.file_id"),
  ...rules("listed", "file", "tools.input_image_mask.image_url", address),
  ...rules("listed", "skill", "tools.container.skills.skill_id tools.environment.skills.skill_id"),
  ...rules("listed", "store", TOOL_STORES),
];

const CHAT_PARTS: readonly IdRule[] = [
  ...rules("listed", "file", "file.file_id", { isId: isFile }),
  ...rules("listed", "file", "file.file_data file.file_url image_url image_url.url video_url video_url.url", address),
  ...rules("listed", "file", "audio_url audio_url.url document_url file_url file_url.url input_audio.data", address),
  ...rules("listed", "file", "file_id image_file.file_id"),
  ...rules("listed", "file", "text", { isId: isFileList }),
];

/** True for lists of file ids, which some vendors read from a system message. */
function isFileList(value: string): boolean {
  return /^\s*fileid:/.test(value);
}

const CHAT_BODY: readonly IdRule[] = [
  ...END_USER,
  ...rules("derived", "end user", "user_id end_user_id session_id chatId customUid"),
  ...rules("owned", "response", "previous_response_id"),
  ...rules("owned", "conversation", "conversation_id conversation conversation.id thread_id"),
  ...rules("owned", "conversation", "metadata.conversation_id", { isOptional: true }),
  ...rules("owned", "audio", "messages.audio.id"),
  ...rules("owned", "item", "messages.reasoning_details.id", {
    isId: (value) => value.startsWith("rs_"),
    spare: ({ data, text: said, summary }) => ([data, said, summary].some(isText) ? "dropped" : undefined),
  }),
  ...below("messages.content", CHAT_PARTS),
  ...rules("listed", "file", "messages.content", { isId: isFileList }),
  ...rules("listed", "file", "messages.file_ids messages.attachments.file_id attachments.file_id file_ids"),
  ...rules("listed", "cached content", "cachedContent cached_content fw_cached_content context_id"),
  ...rules("owned", "container", "container container.id"),
  ...rules("listed", "file", "tools.file_ids"),
  ...rules("listed", "store", `${TOOL_STORES} knowledge_id memory_id rag_options.pipeline_ids connectors.id`),
  ...rules("listed", "prompt", "prompt.id prompt_id"),
  ...rules("listed", "voice", "audio.voice.id"),
  ...rules("refused", "data source", "data_sources dataSources"),
];

const CHAT: readonly IdRule[] = [
  ...CHAT_BODY,
  ...below("extra_body", CHAT_BODY),
  // A conversion reads these members as if they were in the body.
  ...below("extra_body.google", CHAT_BODY),
];

const SOURCES = "source.file_id source.content.source.file_id content.source.file_id file_id content.file_id";

const MESSAGES: readonly IdRule[] = [
  ...rules("derived", "end user", "metadata.user_id user safety_identifier prompt_cache_key"),
  ...rules("owned", "response", "previous_message_id", { isBound: true }),
  ...rules("owned", "container", "container container.id"),
  ...rules("listed", "skill", "container.skills.skill_id", { isId: (_id, skill) => skill["type"] !== "anthropic" }),
  ...below("messages.content", rules("listed", "file", SOURCES)),
  ...below(
    "messages.content",
    rules("listed", "file", "source.url content.source.url source.content.source.url", address),
  ),
  ...below("system", rules("listed", "file", "source.file_id")),
];

const GEMINI_PARTS: readonly IdRule[] = rules(
  "listed",
  "file",
  "fileData.fileUri functionResponse.parts.fileData.fileUri",
  { isId: isFile },
);

/** Google's files are addresses; a bare name also means a file. */
const GEMINI_BODY: readonly IdRule[] = [
  ...below("contents.parts", GEMINI_PARTS),
  ...below("systemInstruction.parts", GEMINI_PARTS),
  ...rules("listed", "cached content", "cachedContent"),
  ...rules("owned", "conversation", "previousInteractionId"),
  ...rules(
    "listed",
    "store",
    "tools.fileSearch.fileSearchStoreNames tools.retrieval.vertexRagStore.ragCorpora " +
      "tools.retrieval.vertexRagStore.ragResources.ragCorpus tools.retrieval.vertexAiSearch.datastore " +
      "tools.retrieval.vertexAiSearch.engine tools.retrieval.vertexAiSearch.dataStoreSpecs.dataStore",
  ),
  ...rules("refused", "data source", "tools.retrieval.externalApi"),
];

const GEMINI_EMBED: readonly IdRule[] = below("content.parts", GEMINI_PARTS);

const IMAGES: readonly IdRule[] = [
  ...END_USER,
  ...rules("listed", "file", "images.file_id image.file_id mask.file_id"),
  ...rules("listed", "file", "image images images.image_url image.image_url mask.image_url image_url", address),
];

/** Within a session, ids name objects that the session itself made; only these outlive it. */
const REALTIME_BODY: readonly IdRule[] = [
  ...rules("listed", "prompt", "prompt.id"),
  ...rules("listed", "voice", "audio.output.voice.id voice.id"),
  ...rules("listed", "store", TOOL_STORES),
];

const REALTIME_ITEM: readonly IdRule[] = [
  ...rules("listed", "file", "content.file_id"),
  ...rules("listed", "file", "content.image_url", address),
];

const REALTIME: readonly IdRule[] = [
  ...below("session", REALTIME_BODY),
  ...below("response", [...REALTIME_BODY, ...below("input", REALTIME_ITEM)]),
  ...below("item", REALTIME_ITEM),
];

const BY_DIALECT: Readonly<Record<string, readonly IdRule[]>> = {
  "openai-chat": CHAT,
  "openai-completions": [...END_USER, ...rules("listed", "cached content", "context_id")],
  "openai-responses": RESPONSES,
  "openai-compaction": RESPONSES,
  "openai-input-tokens": RESPONSES,
  "openai-embeddings": [
    ...END_USER,
    ...rules("listed", "file", "input.image_url input.image_url.url", address),
    ...rules("listed", "file", "input.file_id"),
  ],
  "openai-moderations": [...END_USER, ...rules("listed", "file", "input.image_url.url", address)],
  "openai-images": IMAGES,
  "openai-audio": [...END_USER, ...rules("listed", "voice", "voice.id")],
  "openai-realtime": REALTIME,
  rerank: END_USER,
  "anthropic-messages": MESSAGES,
  "anthropic-count-tokens": MESSAGES,
  "gemini-generate": GEMINI_BODY,
  "gemini-embed": [...GEMINI_EMBED, ...below("requests", GEMINI_EMBED)],
  "gemini-count-tokens": [...GEMINI_BODY, ...below("generateContentRequest", GEMINI_BODY)],
};

/** Returns the rules of the ids that a request of this protocol may contain. */
export function listIdRules(dialect: DialectId): readonly IdRule[] {
  return BY_DIALECT[dialect] ?? [];
}
