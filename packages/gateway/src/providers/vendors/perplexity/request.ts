import { claudeModel, defaultOutputTokens } from "../../../dialects/bridges/parts/models/claude-models.ts";
import type { BridgeContext } from "../../../dialects/core/bridge.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { compact, isSet, object, text } from "../../../dialects/core/read.ts";
import { checkChatFields, checkChatParts } from "../../core/private/chat-checks.ts";
import {
  chatFunctions,
  chatMessages,
  chatToolChoice,
  maxTokens,
  type ChatMessage,
} from "../../core/private/chat-reader.ts";

const FILTERS = [
  "search_domain_filter",
  "search_recency_filter",
  "search_after_date_filter",
  "search_before_date_filter",
  "last_updated_after_filter",
  "last_updated_before_filter",
];

/** Members that the API takes under their own names. */
const TAKEN = ["temperature", "top_p", "response_format", "metadata", "user"];
const READ = [
  ...FILTERS,
  ...TAKEN,
  "tools",
  "functions",
  "tool_choice",
  "function_call",
  "max_tokens",
  "max_completion_tokens",
  "reasoning_effort",
  "web_search_options",
  "num_search_results",
  "disable_search",
];

const PRESETS: Readonly<Record<string, string>> = {
  "sonar-pro": "low",
  "sonar-reasoning": "low",
  "sonar-reasoning-pro": "low",
  "sonar-deep-research": "medium",
  fast: "fast",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
};

/** Builds the request. The API refuses members that it does not know, so the body holds only what is mapped here. */
export function perplexityRequest(body: JsonObject, context: BridgeContext): JsonObject {
  checkChatFields(body, context, READ);
  checkChatParts(body, context, true);
  const limit = maxTokens(body) ?? neededLimit(context.upstreamModel);
  const tools = buildTools(body, context.upstreamModel);
  const effort = text(body, "reasoning_effort");
  const choice = chatToolChoice(body);
  return compact({
    ...toModelMember(context.upstreamModel),
    input: chatMessages(body).flatMap(toItems),
    max_output_tokens: limit === undefined ? undefined : Math.max(16, limit),
    ...Object.fromEntries(TAKEN.filter((name) => isSet(body[name])).map((name) => [name, body[name]])),
    reasoning: effort === undefined ? undefined : { effort },
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: choice?.mode === "named" ? { type: "function", name: choice.name } : choice?.mode,
    stream: body["stream"] === true ? true : undefined,
  });
}

/** Returns a default limit for models of Anthropic, which the API refuses without one. */
function neededLimit(model: string): number | undefined {
  return model.startsWith("anthropic/") ? defaultOutputTokens(claudeModel(model)) : undefined;
}

/**
 * Returns the member that selects the model: Sonar names are presets or the vendor's own model; names with a slash are
 * models of other vendors.
 */
function toModelMember(model: string): JsonObject {
  if (model === "sonar") return { model: "perplexity/sonar" };
  const preset = PRESETS[model];
  return preset === undefined ? { model } : { preset };
}

function buildTools(body: JsonObject, model: string): JsonObject[] {
  const functions = chatFunctions(body).map(({ name, description, parameters }) =>
    compact({ type: "function", name, description, parameters }),
  );
  const search = searchTool(body, model === "sonar");
  return search ? [search, ...functions] : functions;
}

function searchTool(body: JsonObject, searchesAlways: boolean): JsonObject | undefined {
  if (body["disable_search"] === true) return undefined;
  const filters = compact(Object.fromEntries(FILTERS.map((name) => [name, body[name]])));
  const options = object(body, "web_search_options");
  const settings = compact({
    filters: Object.keys(filters).length === 0 ? undefined : filters,
    search_context_size: options?.["search_context_size"],
    user_location: options?.["user_location"],
    max_results: body["num_search_results"],
  });
  return searchesAlways || Object.keys(settings).length > 0 ? { type: "web_search", ...settings } : undefined;
}

function toItems(message: ChatMessage): JsonObject[] {
  if (message.role === "tool")
    return [{ type: "function_call_output", call_id: message.toolCallId ?? "", output: message.text }];
  const calls = message.toolCalls.map((call) => ({
    type: "function_call",
    call_id: call.id,
    name: call.name,
    arguments: call.arguments,
  }));
  const content = toContent(message);
  const said: JsonObject[] = content === "" ? [] : [{ role: text(message.source, "role") ?? message.role, content }];
  return [...said, ...calls];
}

function toContent(message: ChatMessage): string | JsonObject[] {
  if (message.images.length === 0) return message.text;
  const images = message.images.map((url) => ({ type: "input_image", image_url: url }));
  return [...(message.text === "" ? [] : [{ type: "input_text", text: message.text }]), ...images];
}
