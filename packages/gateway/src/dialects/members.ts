import { listIdRules } from "./client-ids.ts";
import type { DialectId } from "./core/types.ts";

/**
 * Members of an object that the gateway reads, each with the members that it reads inside. A list stands for its items.
 */
export interface Members {
  readonly [name: string]: Members;
}

const NOTHING_INSIDE: Members = {};

/** Builds members whose values are read as they are. */
function plain(names: string): Members {
  return Object.fromEntries(names.split(" ").map((name) => [name, NOTHING_INSIDE]));
}

const REASONING: Members = {
  ...plain("reasoning_effort verbosity store group"),
  reasoning: plain("effort summary max_tokens enabled exclude"),
  thinking: plain("type budget_tokens"),
};

/** Members, in any protocol, that vendors charge for in addition to tokens. */
const CHARGED: Members = {
  ...plain("service_tier serviceTier speed inference_geo background enable_search max_tool_calls"),
  ...plain("web_search enable_enhancement EnableEnhancement with_search_enhance compound_custom"),
  ...plain("models fallbacks route preset provider"),
  ...plain("modalities responseModalities response_modalities"),
  generationConfig: plain("responseModalities response_modalities"),
  generation_config: plain("responseModalities response_modalities"),
  plugins: plain("id"),
};

const SAMPLING = plain(
  "model stream n best_of temperature top_p top_k stop seed logprobs top_logprobs logit_bias user " +
    "frequency_penalty presence_penalty max_tokens max_completion_tokens max_output_tokens",
);

const STREAMED: Members = { stream_options: plain("include_usage include_obfuscation") };

const CACHED: Members = { cache_control: plain("type ttl") };

const PICTURE: Members = { image_url: plain("url detail") };

const CHAT_PART: Members = {
  ...plain("type text refusal detail"),
  ...PICTURE,
  ...CACHED,
  input_audio: plain("data format"),
  file: plain("file_data file_id filename"),
  video_url: plain("url"),
};

const CALL: Members = { ...plain("id type"), function: plain("name arguments"), custom: plain("name input") };

/** Members of a tool. Hosted tools are paid per call; a tool's parameters are the client's own. */
const TOOL: Members = {
  ...plain("type name description parameters input_schema strict max_uses format size quality model n"),
  container: plain("type memory_limit"),
  environment: plain("type"),
  ...CACHED,
  function: plain("name description parameters format strict"),
  custom: plain("name description parameters format"),
};

const TOOLS: Members = {
  ...plain("tool_choice parallel_tool_calls function_call"),
  tools: TOOL,
  functions: TOOL,
  web_search_options: plain("search_context_size user_location"),
};

const CHAT: Members = {
  ...SAMPLING,
  ...REASONING,
  ...STREAMED,
  ...TOOLS,
  ...plain("prediction extra_body"),
  audio: plain("voice format"),
  response_format: { type: NOTHING_INSIDE, json_schema: plain("name schema strict") },
  messages: {
    ...plain("role name refusal tool_call_id reasoning reasoning_content"),
    content: CHAT_PART,
    tool_calls: { ...CALL, extra_content: { google: plain("thought_signature") } },
    function_call: plain("name arguments"),
    audio: plain("id"),
  },
};

const RESPONSES_PART: Members = {
  ...plain("type text refusal image_url detail file_id file_data file_url filename"),
  input_audio: plain("data format"),
};

const RESPONSES: Members = {
  ...SAMPLING,
  ...REASONING,
  ...TOOLS,
  ...plain("instructions previous_response_id include truncation"),
  conversation: plain("id"),
  prompt: plain("id version variables"),
  text: { verbosity: NOTHING_INSIDE, format: plain("type name schema strict") },
  input: {
    ...plain("type role id call_id name arguments input status encrypted_content"),
    content: RESPONSES_PART,
    output: RESPONSES_PART,
    summary: plain("type text"),
  },
};

const SOURCE: Members = { ...plain("type data media_type url file_id"), content: plain("type text") };

const BLOCK: Members = {
  ...plain("type text thinking signature data id name input tool_use_id title context is_error"),
  ...CACHED,
  source: SOURCE,
  content: { ...plain("type text tool_use_id"), ...CACHED, source: SOURCE },
};

const MESSAGES: Members = {
  ...SAMPLING,
  ...REASONING,
  ...TOOLS,
  ...plain("stop_sequences previous_message_id thread max_tokens_to_sample mcp_servers container"),
  output_config: { effort: NOTHING_INSIDE, format: plain("type schema") },
  system: BLOCK,
  messages: { role: NOTHING_INSIDE, content: BLOCK },
};

const GEMINI_PART: Members = {
  ...plain("text thought thoughtSignature videoMetadata"),
  inlineData: plain("mimeType data"),
  fileData: plain("mimeType fileUri"),
  functionCall: plain("id name args"),
  functionResponse: plain("id name response parts"),
};

const GEMINI_CONTENT: Members = { role: NOTHING_INSIDE, parts: GEMINI_PART };

const GENERATE: Members = {
  ...plain("model stream safetySettings cachedContent store labels group"),
  contents: GEMINI_CONTENT,
  systemInstruction: GEMINI_CONTENT,
  toolConfig: { functionCallingConfig: plain("mode allowedFunctionNames") },
  tools: plain(
    "functionDeclarations googleSearch googleSearchRetrieval googleMaps enterpriseWebSearch urlContext codeExecution " +
      "fileSearch computerUse",
  ),
  generationConfig: {
    ...plain(
      "maxOutputTokens candidateCount responseModalities temperature topP topK seed stopSequences responseMimeType " +
        "responseSchema responseJsonSchema mediaResolution speechConfig responseLogprobs logprobs",
    ),
    thinkingConfig: plain("thinkingBudget thinkingLevel includeThoughts"),
    imageConfig: plain("aspectRatio imageSize"),
  },
};

const GEMINI_EMBED_REQUEST: Members = {
  ...plain("model taskType title outputDimensionality"),
  content: GEMINI_CONTENT,
};

const COMPLETIONS: Members = { ...SAMPLING, ...REASONING, ...STREAMED, ...plain("prompt suffix echo") };

const IMAGES = plain(
  "max_images batch_size image_size resolution width height sequential_image_generation model prompt n size quality style response_format user stream partial_images background output_format " +
    "output_compression moderation input_fidelity image images mask group",
);

const AUDIO = plain(
  "model input voice instructions speed stream stream_format response_format file language prompt temperature " +
    "timestamp_granularities include chunking_strategy group",
);

const EMBEDDINGS = plain("model input dimensions encoding_format input_type task_type user group");

const MODERATIONS: Members = { ...plain("model group"), input: { ...plain("type text"), ...PICTURE } };

const RERANK: Members = {
  ...plain("model query top_n return_documents max_chunks_per_doc max_tokens_per_doc group"),
  documents: plain("text"),
};

const BY_DIALECT: Readonly<Record<string, Members>> = {
  "openai-chat": CHAT,
  "openai-completions": COMPLETIONS,
  "openai-responses": RESPONSES,
  "openai-compaction": RESPONSES,
  "openai-input-tokens": RESPONSES,
  "openai-embeddings": EMBEDDINGS,
  "openai-moderations": MODERATIONS,
  "openai-images": IMAGES,
  "openai-audio": AUDIO,
  "openai-realtime": plain("model"),
  rerank: RERANK,
  "anthropic-messages": MESSAGES,
  "anthropic-count-tokens": MESSAGES,
  "gemini-generate": GENERATE,
  "gemini-embed": { ...GEMINI_EMBED_REQUEST, requests: GEMINI_EMBED_REQUEST },
  "gemini-count-tokens": { ...GENERATE, generateContentRequest: GENERATE },
};

/** Returns the members that the gateway reads in a request of this protocol, including those with ids of objects. */
export function listDialectMembers(dialect: DialectId): Members {
  const members: Members = { ...CHARGED, ...BY_DIALECT[dialect] };
  // A session's events are read one by one; the request that opens the session has none of their members.
  if (dialect === "openai-realtime") return members;
  return listIdRules(dialect).reduce((all, { path }) => withPath(all, path.split(".")), members);
}

function withPath(members: Members, [name, ...rest]: readonly string[]): Members {
  if (name === undefined) return members;
  return { ...members, [name]: withPath(members[name] ?? NOTHING_INSIDE, rest) };
}

/** True for Google's protocols, whose parser also accepts `max_output_tokens` for `maxOutputTokens`. */
export function hasTwoSpellings(dialect: DialectId): boolean {
  return dialect.startsWith("gemini-");
}

/** The members of tasks for drawings, songs and videos. */
export const TASK_MEMBERS: Members = {
  ...plain(
    "model model_name prompt action taskId customId index content ids notifyHook accountFilter botType mode speed " +
      "base64 base64Array sourceBase64 targetBase64 state dimensions",
  ),
  ...plain("mv title tags gpt_description_prompt make_instrumental continue_clip_id continue_at task_id"),
  ...plain("image images input_reference size seconds duration n negative_prompt cfg_scale aspect_ratio image_tail"),
  metadata: plain("mode duration negative_prompt cfg_scale aspect_ratio image_tail"),
  input: plain("model_name mode duration prompt effect_scene"),
};
