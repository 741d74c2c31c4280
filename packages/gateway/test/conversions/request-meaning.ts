// What a request asks, apart from the protocol that asks it.
import { anyText, isObject, number, object, objects, text } from "../../src/dialects/core/read.ts";
import type { JsonObject, JsonValue } from "../../src/dialects/core/types.ts";
import type { ChatLike } from "./response-meaning.ts";

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
}

export type Turn =
  | { readonly role: "user"; readonly text: string; readonly image: string | undefined }
  | { readonly role: "assistant"; readonly text: string; readonly calls: readonly Call[] }
  | {
      readonly role: "results";
      readonly results: readonly { readonly id: string; readonly name: string; readonly text: string }[];
    };

export interface Request {
  readonly system: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly choice: "auto" | "none" | "required" | { readonly name: string } | undefined;
  readonly maxTokens: number;
  readonly temperature: number;
}

const SCHEMA: JsonObject = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const PNG = "aGVsbG8=";

export function writeRequest(protocol: ChatLike, request: Request): JsonObject {
  return { model: "m", ...WRITERS[protocol](request) };
}

export function readRequest(protocol: ChatLike, body: JsonObject): Request {
  return READERS[protocol](body);
}

const dataUrl = (data: string) => `data:image/png;base64,${data}`;
const readUrlData = (url: string) => url.slice(url.indexOf(",") + 1);

const WRITERS: Readonly<Record<ChatLike, (request: Request) => JsonObject>> = {
  "openai-chat": (request) => ({
    messages: [{ role: "system", content: request.system }, ...request.turns.flatMap(chatMessages)],
    tools: request.tools.map((tool) => ({ type: "function", function: { ...tool, parameters: SCHEMA } })),
    ...choiceMember("tool_choice", request, (name) => ({ type: "function", function: { name } })),
    max_tokens: request.maxTokens,
    temperature: request.temperature,
  }),
  "anthropic-messages": (request) => ({
    system: request.system,
    messages: request.turns.map(anthropicMessage),
    tools: request.tools.map((tool) => ({ ...tool, input_schema: SCHEMA })),
    ...anthropicChoice(request.choice),
    max_tokens: request.maxTokens,
    temperature: request.temperature,
  }),
  "gemini-generate": (request) => ({
    systemInstruction: { parts: [{ text: request.system }] },
    contents: request.turns.map(geminiContent),
    tools: [{ functionDeclarations: request.tools.map((tool) => ({ ...tool, parameters: SCHEMA })) }],
    ...geminiChoice(request.choice),
    generationConfig: { maxOutputTokens: request.maxTokens, temperature: request.temperature },
  }),
  "openai-responses": (request) => ({
    instructions: request.system,
    input: request.turns.flatMap(responsesItems),
    tools: request.tools.map((tool) => ({ type: "function", ...tool, parameters: SCHEMA })),
    ...choiceMember("tool_choice", request, (name) => ({ type: "function", name })),
    max_output_tokens: request.maxTokens,
    temperature: request.temperature,
  }),
};

function choiceMember(key: string, { choice }: Request, buildNamed: (name: string) => JsonObject): JsonObject {
  if (choice === undefined) return {};
  return { [key]: typeof choice === "string" ? choice : buildNamed(choice.name) };
}

function chatMessages(turn: Turn): JsonObject[] {
  if (turn.role === "results")
    return turn.results.map((result) => ({ role: "tool", tool_call_id: result.id, content: result.text }));
  if (turn.role === "assistant") {
    const tool_calls = turn.calls.map(({ id, name, args }) => ({
      id,
      type: "function",
      function: { name, arguments: JSON.stringify(args) },
    }));
    return [
      { role: "assistant", content: turn.text === "" ? null : turn.text, ...(tool_calls.length > 0 && { tool_calls }) },
    ];
  }
  const image = turn.image === undefined ? [] : [{ type: "image_url", image_url: { url: dataUrl(turn.image) } }];
  return [{ role: "user", content: image.length === 0 ? turn.text : [{ type: "text", text: turn.text }, ...image] }];
}

function anthropicMessage(turn: Turn): JsonObject {
  if (turn.role === "results") {
    return {
      role: "user",
      content: turn.results.map(({ id, text: content }) => ({ type: "tool_result", tool_use_id: id, content })),
    };
  }
  const written = turn.text === "" ? [] : [{ type: "text", text: turn.text }];
  if (turn.role === "assistant") {
    return {
      role: "assistant",
      content: [...written, ...turn.calls.map(({ id, name, args }) => ({ type: "tool_use", id, name, input: args }))],
    };
  }
  const image =
    turn.image === undefined
      ? []
      : [{ type: "image", source: { type: "base64", media_type: "image/png", data: turn.image } }];
  return { role: "user", content: [...written, ...image] };
}

function anthropicChoice(choice: Request["choice"]): JsonObject {
  if (choice === undefined) return {};
  if (typeof choice !== "string") return { tool_choice: { type: "tool", name: choice.name } };
  return { tool_choice: { type: choice === "required" ? "any" : choice } };
}

function geminiContent(turn: Turn): JsonObject {
  if (turn.role === "results") {
    return {
      role: "user",
      parts: turn.results.map(({ name, text: output }) => ({ functionResponse: { name, response: { output } } })),
    };
  }
  const written = turn.text === "" ? [] : [{ text: turn.text }];
  if (turn.role === "assistant")
    return {
      role: "model",
      parts: [...written, ...turn.calls.map(({ name, args }) => ({ functionCall: { name, args } }))],
    };
  return {
    role: "user",
    parts: [
      ...written,
      ...(turn.image === undefined ? [] : [{ inlineData: { mimeType: "image/png", data: turn.image } }]),
    ],
  };
}

function geminiChoice(choice: Request["choice"]): JsonObject {
  if (choice === undefined) return {};
  const buildNamed = typeof choice !== "string" && { mode: "ANY", allowedFunctionNames: [choice.name] };
  const mode = choice === "required" ? "ANY" : String(typeof choice === "string" ? choice : "").toUpperCase();
  return { toolConfig: { functionCallingConfig: buildNamed || { mode } } };
}

function responsesItems(turn: Turn): JsonObject[] {
  if (turn.role === "results")
    return turn.results.map(({ id, text: output }) => ({ type: "function_call_output", call_id: id, output }));
  if (turn.role === "assistant") {
    const message = { type: "message", role: "assistant", content: [{ type: "output_text", text: turn.text }] };
    const calls = turn.calls.map(({ id, name, args }) => ({
      type: "function_call",
      call_id: id,
      name,
      arguments: JSON.stringify(args),
    }));
    return [...(turn.text === "" ? [] : [message]), ...calls];
  }
  const image = turn.image === undefined ? [] : [{ type: "input_image", image_url: dataUrl(turn.image) }];
  return [{ role: "user", content: [{ type: "input_text", text: turn.text }, ...image] }];
}

const READERS: Readonly<Record<ChatLike, (body: JsonObject) => Request>> = {
  "openai-chat": (body) => ({
    system: objects(body, "messages")
      .filter((message) => message["role"] === "system")
      .map((message) => anyText(message, "content"))
      .join("\n\n"),
    turns: joined(objects(body, "messages").flatMap(readChatMessage)),
    tools: objects(body, "tools").map((tool) => readTool(object(tool, "function"))),
    choice: readChoice(body["tool_choice"]),
    maxTokens: number(body, "max_tokens") ?? -1,
    temperature: number(body, "temperature") ?? -1,
  }),
  "anthropic-messages": (body) => ({
    system: anyText(body, "system"),
    turns: joined(objects(body, "messages").flatMap(readAnthropicMessage)),
    tools: objects(body, "tools").map(readTool),
    choice: readAnthropicChoice(object(body, "tool_choice")),
    maxTokens: number(body, "max_tokens") ?? -1,
    temperature: number(body, "temperature") ?? -1,
  }),
  "gemini-generate": (body) => ({
    system: objects(object(body, "systemInstruction"), "parts")
      .map((part) => anyText(part, "text"))
      .join("\n\n"),
    turns: joined(readContents(objects(body, "contents"))),
    tools: objects(objects(body, "tools")[0], "functionDeclarations").map(readTool),
    choice: readGeminiChoice(object(object(body, "toolConfig"), "functionCallingConfig")),
    maxTokens: number(object(body, "generationConfig"), "maxOutputTokens") ?? -1,
    temperature: number(object(body, "generationConfig"), "temperature") ?? -1,
  }),
  "openai-responses": (body) => ({
    system: objects(body, "input")
      .filter((item) => item["role"] === "developer")
      .map((item) => partsText(item))
      .join("\n\n"),
    turns: joined(objects(body, "input").flatMap(readItem)),
    tools: objects(body, "tools").map(readTool),
    choice: readChoice(body["tool_choice"]),
    maxTokens: number(body, "max_output_tokens") ?? -1,
    temperature: number(body, "temperature") ?? -1,
  }),
};

function readTool(tool: JsonObject | undefined) {
  return { name: anyText(tool, "name"), description: anyText(tool, "description") };
}

function readChoice(choice: JsonValue | undefined): Request["choice"] {
  if (isObject(choice)) return { name: text(object(choice, "function"), "name") ?? anyText(choice, "name") };
  return choice as Request["choice"];
}

function readAnthropicChoice(choice: JsonObject | undefined): Request["choice"] {
  const type = text(choice, "type");
  if (type === "tool") return { name: anyText(choice, "name") };
  return type === "any" ? "required" : (type as Request["choice"]);
}

function readGeminiChoice(config: JsonObject | undefined): Request["choice"] {
  const names = config?.["allowedFunctionNames"];
  if (Array.isArray(names)) return { name: String(names[0] as string) };
  const mode = text(config, "mode")?.toLowerCase();
  return mode === "any" ? "required" : (mode as Request["choice"]);
}

function partsText(item: JsonObject): string {
  return objects(item, "content")
    .map((part) => anyText(part, "text"))
    .join("");
}

function readChatMessage(message: JsonObject): Turn[] {
  if (message["role"] === "system") return [];
  if (message["role"] === "tool") return [result(anyText(message, "tool_call_id"), anyText(message, "content"))];
  if (message["role"] === "assistant") {
    const calls = objects(message, "tool_calls").map((call) => {
      const target = object(call, "function");
      return {
        id: anyText(call, "id"),
        name: anyText(target, "name"),
        args: JSON.parse(anyText(target, "arguments")) as JsonObject,
      };
    });
    return [{ role: "assistant", text: anyText(message, "content"), calls }];
  }
  const url = objects(message, "content")
    .map((part) => anyText(object(part, "image_url"), "url"))
    .join("");
  return [
    {
      role: "user",
      text: anyText(message, "content") || partsText(message),
      image: url === "" ? undefined : readUrlData(url),
    },
  ];
}

function readAnthropicMessage(message: JsonObject): Turn[] {
  const blocks = objects(message, "content");
  const written = anyText(message, "content") || partsText(message);
  const ofType = (type: string) => blocks.filter((block) => block["type"] === type);
  if (message["role"] === "assistant") {
    const calls = ofType("tool_use").map((block) => ({
      id: anyText(block, "id"),
      name: anyText(block, "name"),
      args: object(block, "input") ?? {},
    }));
    return [{ role: "assistant", text: written, calls }];
  }
  const results = ofType("tool_result").map((block) =>
    result(anyText(block, "tool_use_id"), anyText(block, "content")),
  );
  const image = ofType("image")
    .map((block) => anyText(object(block, "source"), "data"))
    .join("");
  if (written === "" && image === "") return results;
  return [...results, { role: "user", text: written, image: image === "" ? undefined : image }];
}

function readContents(contents: readonly JsonObject[]): Turn[] {
  return contents.flatMap((content) => {
    const parts = objects(content, "parts");
    const written = parts.map((part) => anyText(part, "text")).join("");
    if (content["role"] === "model") {
      const calls = parts.flatMap((part) => object(part, "functionCall") ?? []) as JsonObject[];
      return [
        {
          role: "assistant",
          text: written,
          calls: calls.map((call) => ({ id: "", name: anyText(call, "name"), args: object(call, "args") ?? {} })),
        },
      ];
    }
    const results = parts.flatMap((part) => object(part, "functionResponse") ?? []) as JsonObject[];
    const answered = results.map((entry) => ({
      id: "",
      name: anyText(entry, "name"),
      text: anyText(object(entry, "response"), "output"),
    }));
    const image = parts.map((part) => anyText(object(part, "inlineData"), "data")).join("");
    const said: Turn[] =
      written === "" && image === "" ? [] : [{ role: "user", text: written, image: image === "" ? undefined : image }];
    return [...(answered.length === 0 ? [] : [{ role: "results" as const, results: answered }]), ...said];
  });
}

function readItem(item: JsonObject): Turn[] {
  if (item["role"] === "developer") return [];
  if (item["type"] === "function_call_output") return [result(anyText(item, "call_id"), anyText(item, "output"))];
  if (item["type"] === "function_call") {
    const call = {
      id: anyText(item, "call_id"),
      name: anyText(item, "name"),
      args: JSON.parse(anyText(item, "arguments")) as JsonObject,
    };
    return [{ role: "assistant", text: "", calls: [call] }];
  }
  if (item["role"] === "assistant") return [{ role: "assistant", text: partsText(item), calls: [] }];
  const url = objects(item, "content")
    .map((part) => anyText(part, "image_url"))
    .join("");
  return [{ role: "user", text: partsText(item), image: url === "" ? undefined : readUrlData(url) }];
}

function result(id: string, written: string): Turn {
  return { role: "results", results: [{ id, name: "", text: written }] };
}

/** Neighbours of one role are one turn; names of results come from the calls before them. */
function joined(turns: readonly Turn[]): Turn[] {
  const out: Turn[] = [];
  for (const turn of turns) {
    const last = out.at(-1);
    if (turn.role === "assistant" && last?.role === "assistant") {
      out[out.length - 1] = { role: "assistant", text: last.text + turn.text, calls: [...last.calls, ...turn.calls] };
    } else if (turn.role === "results" && last?.role === "results") {
      out[out.length - 1] = { role: "results", results: [...last.results, ...turn.results] };
    } else out.push(turn);
  }
  return out;
}

/** The same request with ids replaced by positions: some protocols have none. */
export function withoutIds(request: Request): Request {
  let names: readonly Call[] = [];
  const turns = request.turns.map((turn): Turn => {
    if (turn.role === "assistant") {
      names = turn.calls;
      return { ...turn, calls: turn.calls.map((call) => ({ ...call, id: "" })) };
    }
    if (turn.role !== "results") return turn;
    const results = turn.results.map((entry) => ({
      ...entry,
      id: "",
      name: entry.name || (names.find((call) => call.id === entry.id)?.name ?? ""),
    }));
    return { ...turn, results };
  });
  return { ...request, turns };
}

export const IMAGE = PNG;
