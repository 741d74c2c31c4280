// What becomes of every part, item, block and tool that the official clients can send, on every kind of upstream.
import sdkParts from "@fairway/testkit/sdk-parts.json" with { type: "json" };
import { isObject } from "../../src/dialects/core/read.ts";
import type { Bridge, BridgeContext } from "../../src/dialects/core/bridge.ts";
import type { DialectId, JsonObject, JsonValue } from "../../src/dialects/core/types.ts";
import { findBridges } from "../../src/dialects/find-bridges.ts";
import { AppError } from "../../src/lib/app-error.ts";
import { findLost } from "../../src/providers/core/lost-members.ts";
import type { ProviderAdapter } from "../../src/providers/core/types.ts";
import { allProviders } from "../../src/providers/registry.ts";
import { beginConversions, translateRequest } from "../../src/relay/conversion/translate.ts";
import { createRequestSpec, createChannelRecord } from "../kit/provider-kit.ts";

/** carried = all of it is in the upstream's request; named = some is not, and header and row say so; lost = no one says so. */
export type Fate = "carried" | "refused" | "named" | "lost";

export interface Case {
  readonly client: DialectId;
  readonly place: string;
  /** The type of the part, as its client names it. */
  readonly kind: string;
  readonly body: JsonObject;
  /** Texts of the sample that have to arrive. */
  readonly marks: readonly string[];
}

export interface Outcome {
  readonly fate: Fate;
  /** Why it is refused, or the names of what is dropped. */
  readonly named: string;
  readonly missing: readonly string[];
}

export interface Target {
  readonly name: string;
  readonly upstream: DialectId;
  readonly model: string;
  readonly provider: ProviderAdapter | undefined;
}

const GENERAL: readonly Target[] = [
  { name: "OpenAI chat", upstream: "openai-chat", model: "some-model", provider: undefined },
  { name: "Anthropic", upstream: "anthropic-messages", model: "claude-sonnet-4-5", provider: undefined },
  { name: "Gemini", upstream: "gemini-generate", model: "gemini-3-pro", provider: undefined },
  { name: "OpenAI Responses", upstream: "openai-responses", model: "gpt-5.2", provider: undefined },
];

/** Protocols of single vendors, by what they are called in the table. */
const PRIVATE: readonly Target[] = allProviders.flatMap((provider) =>
  (provider.bridges ?? [])
    .filter(({ client }) => client === "openai-chat")
    .map(({ upstream }) => ({
      name: `${provider.label.split(" (")[0]} (${upstream.slice("private:".length)})`,
      upstream,
      model: "some-model",
      provider,
    })),
);

export const TARGETS: readonly Target[] = [
  ...GENERAL,
  ...PRIVATE.filter((target, at) => PRIVATE.findIndex(({ upstream }) => upstream === target.upstream) === at),
];

/** Members that only identify, sign or tune; their loss takes nothing from the model. */
const NOT_CONTENT = new Set(
  (
    "id call_id tool_call_id tool_use_id approval_request_id response_id container_id server_label server_name status signature " +
    "encrypted_content encrypted_stdout thoughtSignature created_by model fingerprint role type language mediaResolution numTokens " +
    "level environment index detail annotations logprobs displayName partialArgs"
  ).split(" "),
);

interface Marked {
  readonly value: JsonValue;
  readonly marks: string[];
}

/** The sample with a text of its own in every place that holds content. */
function marked(sample: JsonValue): Marked {
  const marks: string[] = [];
  const mark = (key: string, isContent: boolean): string => {
    const written = `mark${String(marks.length).padStart(4, "0")}x`;
    const formed = FORMS[key]?.(written) ?? written;
    marks.push(isContent && key !== "mimeType" ? written : "");
    return formed;
  };
  const walk = (value: JsonValue | undefined, key: string, isContent: boolean): JsonValue => {
    if (typeof value === "string") return value === key || value === "any" ? mark(key, isContent) : value;
    if (Array.isArray(value)) return value.map((item) => walk(item, key, isContent));
    if (!isObject(value)) return value ?? null;
    if (SCHEMAS.has(key)) return { type: "object", properties: { [mark(key, isContent)]: { type: "string" } } };
    const isFormat = key === "json_schema" || value["type"] === "json_schema";
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        walk(member, name, isContent && !NOT_CONTENT.has(name) && !(isFormat && name === "name")),
      ]),
    );
  };
  const value = walk(sample, "", true);
  return { value, marks: marks.filter((written) => written !== "") };
}

const SCHEMAS = new Set(["parameters", "parametersJsonSchema", "input_schema", "schema"]);
const base64 = (written: string) => Buffer.from(written).toString("base64");
const FORMS: Readonly<Record<string, (mark: string) => string>> = {
  data: base64,
  imageBytes: base64,
  file_data: (mark) => `data:application/pdf;base64,${base64(mark)}`,
  image_url: (mark) => `data:image/png;base64,${base64(mark)}`,
  url: (mark) => `data:image/png;base64,${base64(mark)}`,
  fileUri: (mark) => `https://files.example/${mark}.png`,
  uri: (mark) => `https://files.example/${mark}`,
  file_url: (mark) => `https://files.example/${mark}.pdf`,
  arguments: (mark) => JSON.stringify({ a: mark }),
  mimeType: () => "image/png",
};

type Place = readonly [name: string, body: (part: JsonValue) => JsonObject];
type Union = keyof typeof sdkParts.unions;

const f = { type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } };
const called = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
};
const hello = { role: "user", content: "hello" };
const chat = (...messages: JsonObject[]): JsonObject => ({ model: "m", messages });
const responses = (...input: JsonValue[]): JsonObject => ({ model: "m", input });
const messages = (...turns: JsonObject[]): JsonObject => ({ model: "m", messages: turns });
const contents = (...turns: JsonObject[]): JsonObject => ({ contents: turns });
const said = { type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] };
const use = { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "f", input: {} }] };
const asked = { role: "user", parts: [{ text: "hello" }] };

const PLACES: readonly (readonly [client: DialectId, union: Union, places: readonly Place[]])[] = [
  ["openai-chat", "ChatMessages", [["message", (part) => chat(hello, part as JsonObject)]]],
  [
    "openai-chat",
    "ChatParts",
    [
      ["system", (part) => chat({ role: "system", content: [part] }, hello)],
      ["user", (part) => chat({ role: "user", content: [part] })],
      ["assistant", (part) => chat(hello, { role: "assistant", content: [part] }, hello)],
      ["tool", (part) => chat(hello, called, { role: "tool", tool_call_id: "c1", content: [part] })],
    ],
  ],
  [
    "openai-chat",
    "ChatCalls",
    [
      [
        "call",
        (part) =>
          chat(
            hello,
            { role: "assistant", content: null, tool_calls: [{ ...(part as JsonObject), id: "c1" }] },
            { role: "tool", tool_call_id: "c1", content: "r" },
          ),
      ],
    ],
  ],
  ["openai-chat", "ChatTools", toolPlaces((tools) => ({ ...chat(hello), tools }), f)],
  ["openai-chat", "ChatFormats", [["response_format", (part) => ({ ...chat(hello), response_format: part })]]],
  ["openai-responses", "ResponsesItems", [["input", (part) => responses(said, part)]]],
  [
    "openai-responses",
    "ResponsesParts",
    [
      ...["system", "user", "assistant"].map((role): Place => [
        role,
        (part) => responses(said, { type: "message", role, content: [part] }, said),
      ]),
      [
        "function_call_output",
        (part) =>
          responses(
            said,
            { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
            { type: "function_call_output", call_id: "c1", output: [part] },
          ),
      ],
    ],
  ],
  [
    "openai-responses",
    "ResponsesTools",
    toolPlaces((tools) => ({ ...responses(said), tools }), {
      type: "function",
      name: "f",
      parameters: { type: "object", properties: {} },
    }),
  ],
  [
    "openai-responses",
    "ResponsesFormats",
    [["text.format", (part) => ({ ...responses(said), text: { format: part } })]],
  ],
  [
    "anthropic-messages",
    "MessagesBlocks",
    [
      ["user", (part) => messages({ role: "user", content: [part] })],
      ["assistant", (part) => messages(hello, { role: "assistant", content: [part] }, hello)],
      ["system", (part) => ({ ...messages(hello), system: [part] })],
      [
        "tool_result",
        (part) =>
          messages(hello, use, {
            role: "user",
            content: [{ type: "tool_result", tool_use_id: "t1", content: [part] }],
          }),
      ],
    ],
  ],
  [
    "anthropic-messages",
    "MessagesResultBlocks",
    [
      [
        "tool_result",
        (part) =>
          messages(hello, use, {
            role: "user",
            content: [{ type: "tool_result", tool_use_id: "t1", content: [part] }],
          }),
      ],
    ],
  ],
  [
    "anthropic-messages",
    "MessagesSources",
    ["image", "document"].map((type): Place => [
      type,
      (source) => messages({ role: "user", content: [{ type, source }] }),
    ]),
  ],
  [
    "anthropic-messages",
    "MessagesTools",
    toolPlaces((tools) => ({ ...messages(hello), tools }), {
      name: "f",
      input_schema: { type: "object", properties: {} },
    }),
  ],
  [
    "gemini-generate",
    "GeminiParts",
    [
      ["user", (part) => contents({ role: "user", parts: [part] })],
      ["model", (part) => contents(asked, { role: "model", parts: [part] }, asked)],
      ["systemInstruction", (part) => ({ ...contents(asked), systemInstruction: { parts: [part] } })],
    ],
  ],
  [
    "gemini-generate",
    "GeminiResultParts",
    [
      [
        "functionResponse",
        (part) =>
          contents(
            asked,
            { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] },
            { role: "user", parts: [{ functionResponse: { name: "f", response: {}, parts: [part] } }] },
          ),
      ],
    ],
  ],
  [
    "gemini-generate",
    "GeminiTools",
    toolPlaces((tools) => ({ ...contents(asked), tools }), { functionDeclarations: [{ name: "f" }] }),
  ],
];

function toolPlaces(body: (tools: JsonValue[]) => JsonObject, another: JsonObject): Place[] {
  return [
    ["only tool", (tool) => body([tool])],
    ["tool next to a function", (tool) => body([another, tool])],
  ];
}

/** A kind that no client of today knows. */
function buildUnknownPart(union: Union): JsonObject {
  if (union.startsWith("Gemini")) return { fromTheFuture: { text: "text" } };
  return union === "ChatMessages"
    ? { role: "from_the_future", content: "text" }
    : { type: "from_the_future", text: "text" };
}

/** Members that may be left out and are all that the kind is for. */
const CONTENT_OF: Readonly<Record<string, JsonObject>> = {
  compaction: { content: "content" },
  tool_result: { content: "content" },
  file: { file: { file_data: "file_data", filename: "filename" } },
  input_file: { file_data: "file_data", filename: "filename" },
  input_image: { image_url: "image_url" },
};

function buildSamples(union: Union): Record<string, JsonValue> {
  const samples = Object.entries(sdkParts.unions[union] as Record<string, JsonObject>).map(
    ([name, sample]) => [name, union === "MessagesSources" ? sample : { ...sample, ...CONTENT_OF[name] }] as const,
  );
  return { ...Object.fromEntries<JsonValue>(samples), from_the_future: buildUnknownPart(union) };
}

export const CASES: readonly Case[] = PLACES.flatMap(([client, union, places]) => {
  return places.flatMap(([place, body]) =>
    Object.entries(buildSamples(union)).map(([name, sample]) => {
      const { value, marks } = marked(sample);
      return { client, place, kind: name, body: body(value), marks };
    }),
  );
});

/** Sends a case through the conversion to an upstream. */
export function runCase({ client, body, marks }: Case, target: Target): Outcome | undefined {
  const bridges = findBridges(client, target.upstream, target.provider?.bridges);
  if (bridges === undefined || bridges.length === 0) return undefined;
  const named: string[] = [];
  let sent: JsonObject;
  try {
    sent = send(body, bridges, target, { client, named });
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 400) throw error;
    return { fate: "refused", named: `${error.param ?? ""}: ${error.message}`, missing: [] };
  }
  const written = JSON.stringify(sent);
  const missing = marks.filter((mark) => !written.includes(mark) && !written.includes(base64(mark)));
  const members = [...new Set(named)].join(", ");
  if (missing.length === 0)
    return { fate: marks.length === 0 && members !== "" ? "named" : "carried", named: members, missing };
  return { fate: members === "" ? "lost" : "named", named: members, missing };
}

function send(
  body: JsonObject,
  bridges: readonly Bridge[],
  target: Target,
  { client, named }: { readonly client: DialectId; readonly named: string[] },
): JsonObject {
  const spec = createRequestSpec({ dialect: client, model: "asked" });
  const context: BridgeContext = {
    spec,
    upstreamModel: target.model,
    requestId: "01R",
    now: 1_790_000_000_000,
    setting: {},
    dropped: (name) => void named.push(name),
  };
  let sent = translateRequest(beginConversions(bridges, context), body);
  for (const { on = ["openai-chat"], apply, rewords } of target.provider?.requestTransforms ?? []) {
    if (!on.includes(target.upstream)) continue;
    const next = apply(sent, spec, target.model, createChannelRecord());
    named.push(...findLost(sent, next, rewords));
    sent = next;
  }
  return sent;
}

/** Kinds that only tune, or note what the model has no use for: they may be left out where that is named. */
const TUNING: Readonly<Record<string, string>> = {
  fallback: "says which models the vendor may change to",
  thinking: "signed thinking means something to its vendor alone",
  redacted_thinking: "sealed thinking means something to its vendor alone",
  reasoning: "sealed reasoning means something to its vendor alone",
  mcp_list_tools: "notes the tools of a server",
  web_search_call: "notes what was searched; the answer holds what was found",
  tool_search_call: "notes a search for tools; the tools themselves are offered",
  tool_search_output: "notes a search for tools; the tools themselves are offered",
  tool_search: "finds tools that are offered anyway",
  tool_search_tool_bm25: "finds tools that are offered anyway",
  tool_search_tool_regex: "finds tools that are offered anyway",
  videoMetadata: "how a film is looked at",
  mediaProcessing: "how media are looked at",
  mediaResolution: "how media are looked at",
  speechMetadata: "what is known about a recording",
  partMetadata: "the client's own note",
};

/** Members that only tune, whose names may be reported next to a part that arrives. */
const TUNING_MEMBER =
  /displayName|filename|tools\.(?:google|code|url|web)\w+\.\w+|mediaProcessing|functionDeclarations\.(?:behavior|response)/;

/** Whether a caller may get an answer although not everything has arrived. */
export function isAllowed({ place, kind }: Case, { fate, named }: Outcome, target: Target): boolean {
  if (fate === "carried" || fate === "refused") return true;
  if (fate === "lost") return false;
  const isOffered = place === "tool next to a function" && named.includes("tools.");
  return isOffered || Object.hasOwn(TUNING, kind) || TUNING_MEMBER.test(named) || target.upstream === ONE_QUESTION;
}

/** A knowledge base is asked the last message alone. */
const ONE_QUESTION: DialectId = "private:aiproxy-library";
