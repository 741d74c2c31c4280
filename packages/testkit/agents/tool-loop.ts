// An upstream for coding agents: it calls the client's shell tool once, then the tool of an MCP server, and ends when
// it sees that tool's result.
import { anthropicMessages } from "../src/upstream/formats/anthropic-messages.ts";
import { geminiGenerate } from "../src/upstream/formats/gemini-generate.ts";
import { openaiChat } from "../src/upstream/formats/openai-chat.ts";
import { openaiResponses } from "../src/upstream/formats/openai-responses.ts";
import type { Recorded } from "../src/upstream/recorded.ts";
import type { ChatFormat, Reply, ToolCall } from "../src/upstream/reply.ts";
import type { ScriptedAnswer, Upstream } from "../src/upstream/server.ts";
import { MARK, MARK_TOOL, SERVER } from "./mark.ts";

const FORMATS: readonly (readonly [string, ChatFormat])[] = [
  ["/chat/completions", openaiChat],
  ["/responses", openaiResponses],
  ["/messages", anthropicMessages],
  [":streamGenerateContent", geminiGenerate],
  [":generateContent", geminiGenerate],
];
const SHELL = /^(bash|shell|shell_command|exec_command|run_shell_command|local_shell)$/i;
const RESULT = /"tool_result"|"role":"tool"|"function_call_output"|"functionResponse"/;

/** The upstream's final text, and the text that the shell prints. */
export interface Loop {
  readonly command: string;
  readonly end: string;
}

export function scriptLoop(upstream: Upstream, loop: Loop): void {
  for (const [path, format] of FORMATS) upstream.script(path, (request) => answer(request, format, loop));
}

function answer(request: Recorded, format: ChatFormat, loop: Loop): ScriptedAnswer {
  const text = request.body.toString("utf8").replaceAll(/":\s+"/g, '":"');
  const next = () => (text.includes(MARK) ? undefined : (markCall(request.json) ?? searchCall(request.json, text)));
  const call = RESULT.test(text) ? next() : shellCall(request.json, loop.command);
  const reply: Reply = {
    id: "fake-1",
    model: request.model,
    pieces: call ? [] : [loop.end],
    reasoning: [],
    toolCalls: call ? [call] : [],
    refusal: undefined,
    finish: "stop",
    usage: { input: 200, output: 20 },
  };
  const isStream = request.json?.["stream"] === true || request.path.endsWith(":streamGenerateContent");
  if (!isStream) return { body: format.plain(reply) };
  const events = [...format.stream(reply, true)];
  const body = events.map(({ name, data }) => `${name === undefined ? "" : `event: ${name}\n`}data: ${data}\n\n`);
  return { headers: { "content-type": "text/event-stream" }, body: body.join("") };
}

/** Helper calls of an agent (titles, checks) come without its shell and get a text at once. */
function shellCall(json: Recorded["json"], command: string): ToolCall | undefined {
  const tool = declarations(json).find(({ name }) => SHELL.test(name));
  if (!tool) return undefined;
  const properties = (tool.schema["properties"] ?? {}) as Readonly<Record<string, { readonly type?: unknown }>>;
  const field = ["command", "cmd"].find((name) => name in properties) ?? "command";
  const isList = String(properties[field]?.type).toLowerCase() === "array";
  const args = {
    [field]: isList ? ["bash", "-c", command] : command,
    ...("description" in properties ? { description: "Writes a file" } : {}),
  };
  return { id: "call_fake_1", name: tool.name, argumentPieces: [JSON.stringify(args)] };
}

function markCall(json: Recorded["json"]): ToolCall | undefined {
  const tool = declarations(json).find(({ name }) => name.endsWith(MARK_TOOL));
  if (!tool) return undefined;
  const { name, namespace } = tool;
  return { id: "call_fake_2", name, ...(namespace && { namespace }), argumentPieces: ['{"place":"pier"}'] };
}

/** Some agents send only the names of their tools until the model searches for one. */
function searchCall(json: Recorded["json"], text: string): ToolCall | undefined {
  const query = `select:mcp__${SERVER}__${MARK_TOOL}`;
  const tool = declarations(json).find(({ name }) => name === "ToolSearch");
  if (!tool || text.includes(query)) return undefined;
  return { id: "call_fake_3", name: tool.name, argumentPieces: [JSON.stringify({ query, max_results: 1 })] };
}

interface Declaration {
  readonly name: string;
  /** The group of tools in the Responses API. */
  readonly namespace?: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** Returns the tools of a request in any of the four formats. */
function declarations(json: Recorded["json"]): Declaration[] {
  const tools = json?.["tools"];
  return Array.isArray(tools) ? tools.flatMap((tool) => declared(tool as Readonly<Record<string, unknown>>)) : [];
}

function declared(tool: Readonly<Record<string, unknown>>): Declaration[] {
  const inner = tool["functionDeclarations"] ?? tool["function_declarations"];
  if (Array.isArray(inner)) return inner.flatMap((one) => declared(one as Readonly<Record<string, unknown>>));
  if (tool["type"] === "namespace" && Array.isArray(tool["tools"])) {
    const namespace = String(tool["name"]);
    const members = tool["tools"].flatMap((one) => declared(one as Readonly<Record<string, unknown>>));
    return members.map((member) => ({ ...member, namespace }));
  }
  const own = (tool["function"] ?? tool) as Readonly<Record<string, unknown>>;
  if (typeof own["name"] !== "string") return [];
  const schema = own["parameters"] ?? own["input_schema"] ?? own["parametersJsonSchema"] ?? {};
  return [{ name: own["name"], schema: schema as Readonly<Record<string, unknown>> }];
}
