// The upstreams of the grid, and readers of the requests that reached them.
import type { Recorded } from "../src/upstream/recorded.ts";
import { at, readDataUrl, isObject, listAt, parsed, textAt } from "./json.ts";
import type { Got, Json } from "./types.ts";

export interface UpstreamKind {
  readonly name: string;
  /** Channel type. */
  readonly type: number;
  /** A model of this kind, because some conversions depend on its generation; behaviours are appended. */
  readonly model: string;
}

export const UPSTREAMS: readonly UpstreamKind[] = [
  { name: "openai", type: 1, model: "gpt-4.1" },
  { name: "compatible", type: 1005, model: "some-model" },
  { name: "anthropic", type: 14, model: "claude-haiku-4-5" },
  { name: "gemini", type: 24, model: "gemini-2.5-flash" },
];

export function readRequest({ path, json = {} }: Recorded): Got {
  if (path.endsWith("/chat/completions")) return readChat(json);
  if (path.endsWith("/responses")) return readResponses(json);
  return path.endsWith("/messages") ? readAnthropic(json) : readGemini(json);
}

export const isNativeResponses = (request: Recorded): boolean => request.path.endsWith("/responses");

function readChat(json: Json): Got {
  const messages = listAt(json, "messages");
  const isSystem = (message: Json) => message["role"] === "system" || message["role"] === "developer";
  const talk = messages.filter((message) => !isSystem(message) && message["role"] !== "tool");
  const parts = talk.flatMap((message) => listAt(message, "content"));
  return {
    system: messages.filter(isSystem).map(contentText).join("\n\n"),
    texts: talk.map(contentText).filter((text) => text !== ""),
    images: parts.map((part) => readDataUrl(textAt(part, "image_url", "url"))).filter((bytes) => bytes !== ""),
    tools: listAt(json, "tools").map((tool) => textAt(tool, "function", "name")),
    calls: talk.flatMap((message) => listAt(message, "tool_calls")).map((call) => chatCall(at(call, "function"))),
    results: messages.filter((message) => message["role"] === "tool").map(contentText),
    resultTurns: 1,
    choice: textAt(json, "tool_choice", "function", "name"),
    schema: at(json, "response_format", "json_schema", "schema"),
    stop: [at(json, "stop") ?? []].flat() as string[],
    thinking: talk.map((message) => textAt(message, "reasoning_content")).join(""),
    signatures: [],
  };
}

function chatCall(call: unknown): { name: string; args: unknown } {
  return { name: textAt(call, "name"), args: parsed(textAt(call, "arguments")) };
}

function contentText(message: Json): string {
  const { content } = message;
  return typeof content === "string" ? content : joinTexts(listAt(message, "content"));
}

function joinTexts(parts: readonly Json[]): string {
  return parts.map((part) => textAt(part, "text")).join("");
}

function readResponses(json: Json): Got {
  const items = listAt(json, "input");
  const ofType = (type: string) => items.filter((item) => item["type"] === type);
  const parts = items.flatMap((item) => listAt(item, "content"));
  return {
    system: textAt(json, "instructions"),
    texts: items.map(contentText).filter((text) => text !== ""),
    images: parts.map((part) => readDataUrl(textAt(part, "image_url"))).filter((bytes) => bytes !== ""),
    tools: listAt(json, "tools").map((tool) => textAt(tool, "name")),
    calls: ofType("function_call").map(chatCall),
    results: ofType("function_call_output").map((item) => textAt(item, "output")),
    resultTurns: 1,
    choice: textAt(json, "tool_choice", "name"),
    schema: at(json, "text", "format", "schema"),
    stop: [],
    thinking: ofType("reasoning")
      .map((item) => joinTexts(listAt(item, "summary")))
      .join(""),
    signatures: ofType("reasoning").map((item) => textAt(item, "encrypted_content")),
  };
}

function readAnthropic(json: Json): Got {
  const messages = listAt(json, "messages");
  const blocks = messages.flatMap((message) => listAt(message, "content"));
  const ofType = (type: string) => blocks.filter((block) => block["type"] === type);
  const { system } = json;
  return {
    system: typeof system === "string" ? system : joinTexts(listAt(json, "system")),
    texts: messages.map(contentText).filter((text) => text !== ""),
    images: ofType("image").map((block) => textAt(block, "source", "data")),
    tools: listAt(json, "tools").map((tool) => textAt(tool, "name")),
    calls: ofType("tool_use").map((block) => ({ name: textAt(block, "name"), args: block["input"] })),
    results: ofType("tool_result").map(contentText),
    resultTurns: turnsWith(messages, "content", (block) => block["type"] === "tool_result"),
    choice: textAt(json, "tool_choice", "name"),
    schema: at(json, "output_config", "format", "schema"),
    stop: (at(json, "stop_sequences") ?? []) as string[],
    thinking: ofType("thinking")
      .map((block) => textAt(block, "thinking"))
      .join(""),
    signatures: ofType("thinking").map((block) => textAt(block, "signature")),
  };
}

function readGemini(json: Json): Got {
  const contents = listAt(json, "contents");
  const parts = contents.flatMap((content) => listAt(content, "parts"));
  const members = (name: string) => parts.map((part) => part[name]).filter(isObject);
  const config = at(json, "generationConfig");
  return {
    system: joinTexts(listAt(json, "systemInstruction", "parts")),
    texts: contents
      .map((content) => joinTexts(listAt(content, "parts").filter((part) => part["thought"] !== true)))
      .filter((text) => text !== ""),
    images: members("inlineData").map((data) => textAt(data, "data")),
    tools: listAt(json, "tools")
      .flatMap((tool) => listAt(tool, "functionDeclarations"))
      .map((tool) => textAt(tool, "name")),
    calls: members("functionCall").map((call) => ({ name: textAt(call, "name"), args: call["args"] })),
    results: members("functionResponse").map(({ response }) =>
      ["output", "result", "content"].map((name) => textAt(response, name)).join(""),
    ),
    resultTurns: turnsWith(contents, "parts", (part) => part["functionResponse"] !== undefined),
    choice: readToolChoice(at(json, "toolConfig", "functionCallingConfig")),
    schema: at(config, "responseJsonSchema") ?? at(config, "responseSchema"),
    stop: (at(config, "stopSequences") ?? []) as string[],
    thinking: joinTexts(parts.filter((part) => part["thought"] === true)),
    signatures: parts.map((part) => textAt(part, "thoughtSignature")).filter((signature) => signature !== ""),
  };
}

function turnsWith(turns: readonly Json[], name: string, matches: (part: Json) => boolean): number {
  return turns.filter((turn) => listAt(turn, name).some(matches)).length;
}

function readToolChoice(config: unknown): string {
  const names = at(config, "allowedFunctionNames");
  return textAt(config, "mode") === "ANY" && Array.isArray(names) ? names.join() : "";
}
