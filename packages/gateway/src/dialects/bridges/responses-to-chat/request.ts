import { wantsBackground } from "../../core/request-spec.ts";
import { unsupportedParameter } from "../../../lib/app-error.ts";
import { compact, isObject, isSet, list, number, object, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject, JsonValue } from "../../core/types.ts";
import { noteDropped } from "../parts/answer/dropped-fields.ts";
import { readEffort, takesEffort } from "../parts/reasoning/effort.ts";
import { readPartKind, unsupportedPart } from "../parts/answer/refused.ts";
import { INCLUDED_LOGPROBS } from "../parts/answer/logprobs.ts";
import type { AskedResponse } from "./asked.ts";
import { toChatMessages } from "./messages.ts";
import { chatTools } from "./tools.ts";

/** Members that need stored state at the upstream; dropping them would lose a conversation or a guarantee. */
const STATEFUL: Readonly<Record<string, string>> = {
  previous_response_id: "Send the whole conversation as input instead.",
  conversation: "Send the whole conversation as input instead.",
  prompt: "Send the text of the stored prompt as instructions and input instead.",
};
const CARRIED = new Set([
  "model",
  "input",
  "instructions",
  "max_output_tokens",
  "temperature",
  "top_p",
  "top_logprobs",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "reasoning",
  "text",
  "user",
  "service_tier",
  "stream",
  "background",
  "store",
  "include",
]);
/** The value of `include` for signed thinking, which every answer has without it. */
const GIVEN = "reasoning.encrypted_content";

/** Converts a Responses request to the body of an equivalent chat request, and to what its answer needs. */
export function toChat(body: JsonObject, context: BridgeContext): { chat: JsonObject; asked: AskedResponse } {
  for (const [name, cure] of Object.entries(STATEFUL)) if (isSet(body[name])) throw unsupportedParameter(name, cure);
  if (wantsBackground(body)) throw unsupportedParameter("background");
  noteDropped(body, CARRIED, context);
  for (const name of list(body, "include"))
    if (typeof name === "string" && name !== GIVEN && name !== INCLUDED_LOGPROBS) context.dropped(`include.${name}`);
  const tools = chatTools(body);
  const logprobs = number(body, "top_logprobs") || undefined;
  const chat = compact({
    model: context.upstreamModel,
    messages: toChatMessages(body, context),
    max_tokens: number(body, "max_output_tokens"),
    temperature: number(body, "temperature"),
    top_p: number(body, "top_p"),
    logprobs: logprobs !== undefined || list(body, "include").includes(INCLUDED_LOGPROBS) ? true : undefined,
    top_logprobs: logprobs,
    ...tools.members,
    ...buildReasoning(body, context),
    ...buildTextOptions(body, context),
    user: text(body, "user"),
    service_tier: text(body, "service_tier"),
    stream: body["stream"] === true ? true : undefined,
  });
  return { chat, asked: { echo: echoRequest(body), specialTools: tools.special } };
}

function buildReasoning(body: JsonObject, context: BridgeContext): JsonObject {
  const reasoning = object(body, "reasoning");
  const effort = readEffort(reasoning?.["effort"]);
  const fw_show_thinking = isSet(reasoning?.["summary"]) ? true : undefined;
  if (effort === undefined) return compact({ fw_show_thinking });
  if (takesEffort(context.upstreamModel)) return compact({ reasoning_effort: effort, fw_show_thinking });
  context.dropped("reasoning");
  return { fw_reasoning: effort };
}

function buildTextOptions(body: JsonObject, context: BridgeContext): JsonObject {
  const asked = object(body, "text");
  const format = object(asked, "format");
  const verbosity = text(asked, "verbosity");
  const isKnown = /^(?:openai\/)?gpt-[5-9]/.test(context.upstreamModel);
  if (verbosity !== undefined && !isKnown) context.dropped("text.verbosity");
  return compact({
    verbosity: isKnown ? verbosity : undefined,
    response_format: format && responseFormat(format, context),
  });
}

function responseFormat(format: JsonObject, context: BridgeContext): JsonObject | undefined {
  const { type, ...rest } = format;
  if (type === "json_schema") return { type, json_schema: rest };
  if (type === "json_object") return { type };
  if (isSet(type) && type !== "text") throw unsupportedPart(`text.format.${readPartKind(format)}`, context);
  return undefined;
}

/** Returns a tool for the answer, in which two members are required that a request may leave out. */
function shownTool(tool: JsonValue): JsonValue {
  return isObject(tool) && tool["type"] === "function" ? { parameters: null, strict: null, ...tool } : tool;
}

function echoRequest(body: JsonObject): JsonObject {
  return {
    instructions: body["instructions"] ?? null,
    max_output_tokens: body["max_output_tokens"] ?? null,
    metadata: body["metadata"] ?? {},
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    reasoning: { effort: null, summary: null, ...object(body, "reasoning") },
    temperature: body["temperature"] ?? 1,
    text: { format: { type: "text" }, ...object(body, "text") },
    tool_choice: body["tool_choice"] ?? "auto",
    tools: list(body, "tools").map(shownTool),
    top_p: body["top_p"] ?? 1,
    truncation: body["truncation"] ?? "disabled",
    user: body["user"] ?? null,
  };
}
