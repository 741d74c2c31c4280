import { unsupportedParameter } from "../../../lib/app-error.ts";
import { readChoiceCount } from "../../core/request-spec.ts";
import { anyText, compact, isSet, list, number, object, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject, JsonValue } from "../../core/types.ts";
import { readChatTools, type ChatFunction, type ChatTools } from "../parts/tools/chat-tools.ts";
import {
  claudeModel,
  defaultOutputTokens,
  hasStructuredOutput,
  findMaxOutputTokens,
  refusesForcedTools,
  refusesSampling,
  refusesSamplingTogether,
  type ClaudeModel,
} from "../parts/models/claude-models.ts";
import { noteDropped } from "../parts/answer/dropped-fields.ts";
import { checkFormat } from "../parts/schemas/format.ts";
import { messagesServers } from "../parts/tools/mcp-servers.ts";
import { jsonInstructions } from "../parts/schemas/json-instruction.ts";
import { structuredSchema } from "../parts/schemas/structured-schema.ts";
import { ONE_BY_ONE, refuseBias } from "../parts/answer/refused.ts";
import { withFewMarks } from "../parts/content/cache-marks.ts";
import { withUserTurn } from "../parts/content/system-only-prompt.ts";
import type { ToolChoice } from "../parts/tools/tool-choice.ts";
import { cacheMark } from "./content.ts";
import { toHostedTool } from "./hosted.ts";
import { toAnthropicMessages, buildSystem } from "./messages.ts";
import { thinkingFor, type Thinking } from "./thinking.ts";

const CARRIED = new Set([
  "model",
  "messages",
  "stream",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "top_k",
  "stop",
  "user",
  "safety_identifier",
  "tools",
  "functions",
  "tool_choice",
  "function_call",
  "parallel_tool_calls",
  "response_format",
  "reasoning_effort",
  "reasoning",
  "thinking",
  "n",
  "service_tier",
]);

/** Converts a chat request to the body of an equivalent messages request. */
export function toAnthropic(asked: JsonObject, context: BridgeContext): JsonObject {
  const body = withFewMarks(withUserTurn(asked), context);
  refuseUnsupported(body);
  checkFormat(body, context);
  noteDropped(body, CARRIED, context);
  const model = claudeModel(context.upstreamModel);
  const maxTokens = resolveOutputLimit(body, model, context);
  const thinking = thinkingFor(body, model, maxTokens, context);
  const tools = freed(readChatTools(body, context), thinking, model, context);
  const format = resolveFormat(body, model);
  return compact({
    model: context.upstreamModel,
    max_tokens: maxTokens,
    system: buildSystem(body, format.instructions, context),
    messages: toAnthropicMessages(body, context),
    ...buildSampling(body, thinking, model, context),
    stop_sequences: listStops(body["stop"]),
    tools: buildTools(tools, model, context),
    tool_choice: toToolChoice(body, tools),
    ...messagesServers(
      tools.hosted.filter(({ kind }) => kind === "mcp"),
      context,
    ),
    thinking: thinking.thinking,
    output_config: outputConfig(thinking.effort, format.schema),
    metadata: buildMetadata(body, context),
    service_tier: toServiceTier(body, context),
    stream: body["stream"] === true ? true : undefined,
  });
}

/**
 * Returns the output limit. The upstream refuses a limit above the model's maximum, while other upstreams accept any.
 */
function resolveOutputLimit(body: JsonObject, model: ClaudeModel, context: BridgeContext): number {
  const asked = number(body, "max_completion_tokens") ?? number(body, "max_tokens");
  if (asked === undefined) return defaultOutputTokens(model);
  const most = findMaxOutputTokens(model) ?? asked;
  if (asked > most) context.dropped("max_tokens");
  return Math.min(asked, most);
}

function refuseUnsupported(body: JsonObject): void {
  if (readChoiceCount(body) > 1) throw unsupportedParameter("n", ONE_BY_ONE);
  if (list(body, "modalities").includes("audio") || isSet(body["audio"])) throw unsupportedParameter("modalities");
  refuseBias(body);
}

function buildSampling(body: JsonObject, thinking: Thinking, model: ClaudeModel, context: BridgeContext): JsonObject {
  const asked = compact({
    temperature: number(body, "temperature"),
    top_p: number(body, "top_p"),
    top_k: number(body, "top_k") ?? number(body, "fw_top_k"),
  });
  if (thinking.isOn || refusesSampling(model)) {
    for (const name of Object.keys(asked)) context.dropped(name);
    return {};
  }
  const temperature = number(asked, "temperature");
  if (temperature === undefined) return asked;
  if (temperature > 1) context.dropped("temperature");
  const clamped: JsonObject = { ...asked, temperature: Math.min(1, temperature) };
  if (asked["top_p"] === undefined || !refusesSamplingTogether(model)) return clamped;
  context.dropped("top_p");
  return { ...clamped, top_p: undefined };
}

/** Lists the stop texts without those that have no visible character, which the upstream refuses. */
function listStops(stop: JsonValue | undefined): JsonValue[] | undefined {
  const all = typeof stop === "string" ? [stop] : Array.isArray(stop) ? stop : [];
  const usable = all.filter((entry) => typeof entry === "string" && entry.trim() !== "");
  return usable.length === 0 ? undefined : usable;
}

function buildTools(
  { functions, hosted }: ChatTools,
  model: ClaudeModel,
  context: BridgeContext,
): JsonObject[] | undefined {
  const tools = [...functions.map((tool) => toTool(tool, model)), ...hosted.map((tool) => toHostedTool(tool, context))];
  return tools.length === 0 ? undefined : tools;
}

function toTool({ name, description, parameters, strict, tool }: ChatFunction, model: ClaudeModel): JsonObject {
  const isStrict = strict && hasStructuredOutput(model);
  return compact({
    name,
    description,
    input_schema: isStrict ? structuredSchema(inputSchema(parameters)) : inputSchema(parameters),
    strict: isStrict ? true : undefined,
    cache_control: cacheMark(tool),
  });
}

function inputSchema(parameters: JsonObject | undefined): JsonObject {
  if (parameters === undefined || Object.keys(parameters).length === 0) return { type: "object", properties: {} };
  return parameters["type"] === undefined ? { type: "object", ...parameters } : parameters;
}

/** Turns a forced choice into a free one: the newest models, and others while they think with a budget, refuse it. */
function freed(tools: ChatTools, { thinking }: Thinking, model: ClaudeModel, context: BridgeContext): ChatTools {
  const isForced = tools.choice?.mode === "required" || tools.choice?.mode === "named";
  const isRefused = thinking?.["type"] === "enabled" || refusesForcedTools(model);
  if (!isForced || !isRefused) return tools;
  context.dropped("tool_choice");
  return { ...tools, choice: { mode: "auto" } };
}

function toToolChoice(body: JsonObject, { functions, hosted, choice }: ChatTools): JsonObject | undefined {
  if (functions.length + hosted.length === 0) return undefined;
  const chosen = text(body, "fw_hosted_choice");
  if (chosen === "mcp") throw unsupportedParameter("tool_choice");
  if (chosen !== undefined) return { type: "tool", name: chosen };
  const single = body["parallel_tool_calls"] === false ? { disable_parallel_tool_use: true } : undefined;
  const asked = namedChoice(choice);
  if (asked?.["type"] === "none") return asked;
  return asked === undefined && single === undefined ? undefined : { type: "auto", ...asked, ...single };
}

function namedChoice(choice: ToolChoice | undefined): JsonObject | undefined {
  switch (choice?.mode) {
    case "none":
      return { type: "none" };
    case "required":
      return { type: "any" };
    case "named":
      return { type: "tool", name: choice.name };
    case "auto":
      return { type: "auto" };
    case "allowed":
    case undefined:
      return undefined;
  }
}

interface Format {
  readonly schema: JsonObject | undefined;
  readonly instructions: readonly string[];
}

/** Returns a schema if the model enforces one, else an instruction. The start of the answer is never prefilled. */
function resolveFormat(body: JsonObject, model: ClaudeModel): Format {
  const format = object(body, "response_format");
  const schema = format?.["type"] === "json_schema" ? object(object(format, "json_schema"), "schema") : undefined;
  if (schema !== undefined && hasStructuredOutput(model)) return { schema: structuredSchema(schema), instructions: [] };
  return { schema: undefined, instructions: jsonInstructions(body) };
}

function outputConfig(effort: string | undefined, schema: JsonObject | undefined): JsonObject | undefined {
  if (effort === undefined && schema === undefined) return undefined;
  return compact({ effort, format: schema && { type: "json_schema", schema } });
}

/** Matches user ids that identify a person, which the upstream refuses: e-mail addresses and telephone numbers. */
const TELLING = /@|^\+[\d\s().-]{7,}$/;
const MAX_USER = 256;

function buildMetadata(body: JsonObject, context: BridgeContext): JsonObject | undefined {
  const key = text(body, "user") === undefined ? "safety_identifier" : "user";
  const user = anyText(body, key);
  if (user === "") return undefined;
  if (user.length <= MAX_USER && !TELLING.test(user)) return { user_id: user };
  context.dropped(key);
  return undefined;
}

function toServiceTier(body: JsonObject, context: BridgeContext): string | undefined {
  const tier = text(body, "service_tier");
  if (tier === undefined || tier === "auto" || tier === "standard_only") return tier;
  if (tier === "default") return "standard_only";
  context.dropped("service_tier");
  return undefined;
}
