// How conversions treat each feature: the table of docs/reference/conversions.md. The test next to this file sends
// every sample through the bridges, so the table cannot promise what the code does not do.
import type { JsonObject } from "../core/types.ts";

export type Upstream = "openai-chat" | "anthropic-messages" | "gemini-generate" | "openai-responses";

/** preserved = means the same upstream; dropped = left out and logged; refused = 400 `unsupported_parameter`. */
export type Fate = "preserved" | "dropped" | "refused";

export interface Feature {
  readonly name: string;
  /** How each protocol expresses it. */
  readonly words: Readonly<Record<Upstream, string>>;
  /** How each upstream protocol treats the feature when the client speaks chat. */
  readonly fate: Readonly<Record<Exclude<Upstream, "openai-chat">, Fate>>;
  /** Members of a chat request that use it. */
  readonly sample: JsonObject;
  readonly note?: string;
}

const NONE = "–";
const user = (part: JsonObject): JsonObject => ({ messages: [{ role: "user", content: [part] }] });
const PRESERVED = {
  "anthropic-messages": "preserved",
  "gemini-generate": "preserved",
  "openai-responses": "preserved",
} as const;
const tools = [
  { type: "function", function: { name: "f", parameters: { type: "object", properties: { a: { type: "string" } } } } },
];

export const FEATURES: readonly Feature[] = [
  {
    name: "System text",
    words: {
      "openai-chat": "messages of role system or developer",
      "anthropic-messages": "`system`",
      "gemini-generate": "`systemInstruction`",
      "openai-responses": "`instructions`, items of role developer",
    },
    fate: PRESERVED,
    sample: {
      messages: [
        { role: "system", content: "s" },
        { role: "user", content: "u" },
      ],
    },
    note: "All of it is joined in order with a blank line and moved to the front.",
  },
  {
    name: "Images",
    words: {
      "openai-chat": "`image_url` part",
      "anthropic-messages": "`image` block, base64 or url",
      "gemini-generate": "`inlineData`, `fileData`",
      "openai-responses": "`input_image` part",
    },
    fate: PRESERVED,
    sample: user({ type: "image_url", image_url: { url: "data:image/png;base64,AA" } }),
    note: "Upstreams that take bytes only get addresses fetched first.",
  },
  {
    name: "Files",
    words: {
      "openai-chat": "`file` part",
      "anthropic-messages": "`document` block",
      "gemini-generate": "`inlineData`, `fileData`",
      "openai-responses": "`input_file` part",
    },
    fate: PRESERVED,
    sample: user({ type: "file", file: { filename: "document.pdf", file_data: "data:application/pdf;base64,AA" } }),
    note: "A document named by its address only is refused by chat upstreams.",
  },
  {
    name: "Sound in a prompt",
    words: {
      "openai-chat": "`input_audio` part",
      "anthropic-messages": NONE,
      "gemini-generate": "`inlineData`",
      "openai-responses": NONE,
    },
    fate: { "anthropic-messages": "refused", "gemini-generate": "preserved", "openai-responses": "refused" },
    sample: user({ type: "input_audio", input_audio: { data: "AA", format: "wav" } }),
  },
  {
    name: "Sound in an answer",
    words: {
      "openai-chat": "`modalities`, `audio`",
      "anthropic-messages": NONE,
      "gemini-generate": "`responseModalities`, `speechConfig`",
      "openai-responses": NONE,
    },
    fate: { "anthropic-messages": "refused", "gemini-generate": "preserved", "openai-responses": "refused" },
    sample: { modalities: ["text", "audio"], audio: { voice: "alloy", format: "pcm16" } },
    note: "From Gemini as `pcm16`, whole answers as `wav` as well; other formats are refused, as nothing is encoded here. Voices keep their names.",
  },
  {
    name: "Functions",
    words: {
      "openai-chat": "`tools[].function`",
      "anthropic-messages": "`tools[]` with `input_schema`",
      "gemini-generate": "`functionDeclarations`",
      "openai-responses": "flat `tools[]`",
    },
    fate: PRESERVED,
    sample: { tools },
    note: "Several calls in one answer, text next to them, ids and results in order are preserved; schemas are cut to what Gemini takes. Responses clients: those in namespaces (the MCP servers of agents), and what a search of the client's own finds, are functions upstream and come back under their own names. Tools that a vendor defines and the client runs are functions for every other upstream: bash, text editor, memory and computer of Anthropic clients, `shell`, `local_shell` and `apply_patch` of Responses clients, whose calls are of their own kind again in the answer.",
  },
  {
    name: "Free-text tools",
    words: {
      "openai-chat": "custom tools",
      "anthropic-messages": NONE,
      "gemini-generate": NONE,
      "openai-responses": "custom tools",
    },
    fate: { "anthropic-messages": "refused", "gemini-generate": "refused", "openai-responses": "preserved" },
    sample: { tools: [...tools, { type: "custom", custom: { name: "c" } }] },
    note: "Responses clients on other upstreams: a function with one text argument, turned back in the answer.",
  },
  {
    name: "Hosted tools (search, code)",
    words: {
      "openai-chat": NONE,
      "anthropic-messages": "typed tools that the vendor runs",
      "gemini-generate": "`googleSearch`, `codeExecution`, `urlContext`",
      "openai-responses": "typed tools",
    },
    fate: { "anthropic-messages": "dropped", "gemini-generate": "dropped", "openai-responses": "dropped" },
    sample: { tools: [...tools, { type: "web_search" }] },
    note: "Next to functions of the client, as coding agents offer them. Alone or forced they are refused, and so are those that were set up for the request: files, code execution, servers of MCP, a computer, addresses. Servers of MCP are those of Claude and of the Responses API. Answers show what the vendor ran (searches, code, MCP calls) in the blocks of the client's own protocol; chat clients read citations, and code as fenced text.",
  },
  {
    name: "Search in chat",
    words: {
      "openai-chat": "`web_search_options`",
      "anthropic-messages": "`web_search`",
      "gemini-generate": "`googleSearch`",
      "openai-responses": "`web_search`",
    },
    fate: PRESERVED,
    sample: { web_search_options: {} },
    note: "Claude, OpenAI's Responses API and Gemini each search, whatever the client calls it; sources are cited in its words. Refused where no one searches, and where no one would keep to the addresses that it names. Code execution and the reading of addresses are turned into each other in the same way.",
  },
  {
    name: "Choice of tools",
    words: {
      "openai-chat": "`tool_choice`",
      "anthropic-messages": "`tool_choice`",
      "gemini-generate": "`functionCallingConfig`",
      "openai-responses": "`tool_choice`",
    },
    fate: PRESERVED,
    sample: { tools, tool_choice: { type: "function", function: { name: "f" } } },
    note: "A forced choice becomes a free one for Anthropic models that refuse it: the newest, and those that think by budget.",
  },
  {
    name: "One call at a time",
    words: {
      "openai-chat": "`parallel_tool_calls: false`",
      "anthropic-messages": "`disable_parallel_tool_use`",
      "gemini-generate": NONE,
      "openai-responses": "`parallel_tool_calls: false`",
    },
    fate: { "anthropic-messages": "preserved", "gemini-generate": "dropped", "openai-responses": "preserved" },
    sample: { tools, parallel_tool_calls: false },
  },
  {
    name: "Several answers",
    words: {
      "openai-chat": "`n`",
      "anthropic-messages": NONE,
      "gemini-generate": "`candidateCount`",
      "openai-responses": NONE,
    },
    fate: { "anthropic-messages": "refused", "gemini-generate": "preserved", "openai-responses": "refused" },
    sample: { n: 2 },
  },
  {
    name: "Limit of output",
    words: {
      "openai-chat": "`max_completion_tokens`, `max_tokens`",
      "anthropic-messages": "`max_tokens`",
      "gemini-generate": "`maxOutputTokens`",
      "openai-responses": "`max_output_tokens`",
    },
    fate: PRESERVED,
    sample: { max_tokens: 100 },
    note: "One that is larger than the most that the model can write is lowered to that and named, where the model's limit is known (*ModelOutputTokens* or the price list). Anthropic needs one: without it that most is sent.",
  },
  {
    name: "Stop texts",
    words: {
      "openai-chat": "`stop`",
      "anthropic-messages": "`stop_sequences`",
      "gemini-generate": "`stopSequences`",
      "openai-responses": NONE,
    },
    fate: { "anthropic-messages": "preserved", "gemini-generate": "preserved", "openai-responses": "dropped" },
    sample: { stop: ["x"] },
    note: "Chat takes four, Gemini five; further ones are dropped and named. DeepSeek takes 16, Moonshot five, servers of open models any number; these also get `top_k`.",
  },
  {
    name: "Temperature",
    words: {
      "openai-chat": "`temperature`",
      "anthropic-messages": "`temperature`",
      "gemini-generate": "`temperature`",
      "openai-responses": "`temperature`",
    },
    fate: PRESERVED,
    sample: { temperature: 0.5 },
    note: "Cut to 1 for Anthropic; dropped while a model thinks and by models that refuse it. Next to it `top_p` is dropped for Claude models that take one of the two.",
  },
  {
    name: "Seed",
    words: {
      "openai-chat": "`seed`",
      "anthropic-messages": NONE,
      "gemini-generate": "`seed`",
      "openai-responses": NONE,
    },
    fate: { "anthropic-messages": "dropped", "gemini-generate": "preserved", "openai-responses": "dropped" },
    sample: { seed: 1 },
  },
  {
    name: "Penalties",
    words: {
      "openai-chat": "`presence_penalty`, `frequency_penalty`",
      "anthropic-messages": NONE,
      "gemini-generate": "`presencePenalty`, `frequencyPenalty`",
      "openai-responses": NONE,
    },
    fate: { "anthropic-messages": "dropped", "gemini-generate": "preserved", "openai-responses": "dropped" },
    sample: { presence_penalty: 0.5 },
  },
  {
    name: "Logit bias",
    words: {
      "openai-chat": "`logit_bias`",
      "anthropic-messages": NONE,
      "gemini-generate": NONE,
      "openai-responses": NONE,
    },
    fate: { "anthropic-messages": "refused", "gemini-generate": "refused", "openai-responses": "refused" },
    sample: { logit_bias: { "1": 5 } },
  },
  {
    name: "Probabilities of tokens",
    words: {
      "openai-chat": "`logprobs`, `top_logprobs`",
      "anthropic-messages": NONE,
      "gemini-generate": "`responseLogprobs`, `logprobs`",
      "openai-responses": "`top_logprobs`, `include`",
    },
    fate: { "anthropic-messages": "dropped", "gemini-generate": "preserved", "openai-responses": "preserved" },
    sample: { logprobs: true, top_logprobs: 2 },
    note: "Reasoning models that refuse them are not asked.",
  },
  {
    name: "Functions without tools",
    words: {
      "openai-chat": "`functions`, `function_call`",
      "anthropic-messages": NONE,
      "gemini-generate": NONE,
      "openai-responses": NONE,
    },
    fate: PRESERVED,
    sample: { functions: [{ name: "f", parameters: { type: "object", properties: { a: { type: "string" } } } }] },
    note: "Clients that ask in these words are answered in them, with one call at a time.",
  },
  {
    name: "JSON by schema",
    words: {
      "openai-chat": "`response_format`",
      "anthropic-messages": "`output_config.format`",
      "gemini-generate": "`responseJsonSchema`",
      "openai-responses": "`text.format`",
    },
    fate: PRESERVED,
    sample: {
      response_format: { type: "json_schema", json_schema: { name: "s", schema: { type: "object", properties: {} } } },
    },
    note: "Models without the feature are asked in the system text, as is Gemini before 3 next to functions; nothing is put into their mouth.",
  },
  {
    name: "Reasoning effort",
    words: {
      "openai-chat": "`reasoning_effort`",
      "anthropic-messages": "`thinking`, `output_config.effort`",
      "gemini-generate": "`thinkingConfig`",
      "openai-responses": "`reasoning.effort`",
    },
    fate: PRESERVED,
    sample: { reasoning_effort: "low", max_tokens: 4000 },
    note: "Budgets and names of effort are turned into each other by the model's generation. One that the model does not know becomes the nearest, and is named. Thinking that is switched off is the least that the model takes.",
  },
  {
    name: "Signed thinking",
    words: {
      "openai-chat": "`reasoning_content`, `thinking_blocks` next to tool calls",
      "anthropic-messages": "`thinking`, `redacted_thinking` blocks",
      "gemini-generate": "`thoughtSignature`",
      "openai-responses": "`reasoning` items with `encrypted_content`",
    },
    fate: { "anthropic-messages": "preserved", "gemini-generate": "dropped", "openai-responses": "dropped" },
    sample: {
      messages: [
        { role: "user", content: "u" },
        { role: "assistant", content: "a", thinking_blocks: [{ type: "thinking", thinking: "t", signature: "c2ln" }] },
        { role: "user", content: "v" },
      ],
    },
    note: "Byte for byte to the vendor that signed; Gemini's signatures of calls travel inside of tool call ids of up to 200 characters; longer ones next to the call for chat clients, as in Google's own chat endpoint, and as the signature of thinking for others; reasoning that OpenAI encrypted as the signature of thinking. Open models that read their reasoning again (DeepSeek, Kimi, GLM, MiniMax) get it as `reasoning_content`.",
  },
  {
    name: "Cache marks",
    words: {
      "openai-chat": "`cache_control` on parts",
      "anthropic-messages": "`cache_control`",
      "gemini-generate": "`cachedContent`",
      "openai-responses": "`prompt_cache_key`",
    },
    fate: { "anthropic-messages": "preserved", "gemini-generate": "dropped", "openai-responses": "dropped" },
    sample: user({ type: "text", text: "t", cache_control: { type: "ephemeral" } }),
    note: "Anthropic and Bedrock take four: of more, the last before the conversation and the last ones in it stay. Marks have no effect where the upstream caches by itself.",
  },
  {
    name: "Who is asking",
    words: {
      "openai-chat": "`user`",
      "anthropic-messages": "`metadata.user_id`",
      "gemini-generate": NONE,
      "openai-responses": "`user`",
    },
    fate: { "anthropic-messages": "preserved", "gemini-generate": "dropped", "openai-responses": "preserved" },
    sample: { user: "u" },
  },
];
