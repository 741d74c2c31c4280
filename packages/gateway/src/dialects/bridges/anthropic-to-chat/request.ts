import { AppError } from "../../../lib/app-error.ts";
import { anyText, compact, isSet, list, number, object, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject } from "../../core/types.ts";
import { noteDropped, noteDroppedIn } from "../parts/answer/dropped-fields.ts";
import { convertClaudeBudget, readEffort, takesEffort, type Effort } from "../parts/reasoning/effort.ts";
import { strictSchema } from "../parts/schemas/strict-schema.ts";
import { toChatMessages } from "./messages.ts";
import { chatTools } from "./tools.ts";

const CARRIED = new Set([
  "model",
  "messages",
  "system",
  "max_tokens",
  "temperature",
  "top_p",
  "top_k",
  "stop_sequences",
  "tools",
  "mcp_servers",
  "tool_choice",
  "thinking",
  "output_config",
  "output_format",
  "metadata",
  "service_tier",
  "stream",
]);
const THINKING = new Set(["type", "budget_tokens"]);
const OUTPUT_CONFIG = new Set(["effort", "format"]);
const METADATA = new Set(["user_id"]);

/** OpenAI refuses longer user ids; coding agents put whole JSON documents there. */
const MAX_USER = 64;

/** Converts a messages request to the body of an equivalent chat request. */
export function toChat(body: JsonObject, context: BridgeContext): JsonObject {
  refuseThreads(body);
  noteDropped(body, CARRIED, context);
  noteDroppedIn("thinking", object(body, "thinking"), THINKING, context);
  noteDroppedIn("output_config", object(body, "output_config"), OUTPUT_CONFIG, context);
  noteDroppedIn("metadata", object(body, "metadata"), METADATA, context);
  return compact({
    model: context.upstreamModel,
    messages: toChatMessages(body, context),
    max_tokens: number(body, "max_tokens"),
    temperature: number(body, "temperature"),
    top_p: number(body, "top_p"),
    fw_top_k: number(body, "top_k"),
    stop: list(body, "stop_sequences").length === 0 ? undefined : [...list(body, "stop_sequences")],
    ...chatTools(body, context),
    ...buildReasoning(body, context),
    response_format: toResponseFormat(body),
    user: resolveUserId(body, context),
    service_tier: toServiceTier(body),
    stream: body["stream"] === true ? true : undefined,
  });
}

/**
 * Refuses threads: a dropped thread would lose the conversation. The official clients can be configured to continue
 * without one.
 */
function refuseThreads(body: JsonObject): void {
  for (const name of ["thread", "previous_message_id"]) {
    if (!isSet(body[name])) continue;
    throw new AppError("invalid_request", {
      param: name,
      values: { reason: "Threads are not available for this model here; send the whole conversation." },
      details: { error_code: "thread_unsupported_request" },
    });
  }
}

/** Values that switch thinking off. `between_tools` is the minimum on models that cannot disable thinking. */
const OFF = new Set(["disabled", "between_tools"]);

function buildReasoning(body: JsonObject, context: BridgeContext): JsonObject {
  const thinking = object(body, "thinking");
  if (OFF.has(anyText(thinking, "type"))) return { fw_reasoning: "none" };
  const budget = thinking?.["type"] === "enabled" ? number(thinking, "budget_tokens") : undefined;
  const named = readEffort(object(body, "output_config")?.["effort"]);
  const effort: Effort | undefined = named ?? (budget === undefined ? undefined : convertClaudeBudget(budget));
  const isShown = thinking !== undefined && thinking["display"] !== "omitted" ? true : undefined;
  if (effort === undefined) return compact({ fw_show_thinking: isShown });
  if (!takesEffort(context.upstreamModel)) {
    context.dropped("thinking");
    return { fw_reasoning: effort };
  }
  return compact({ reasoning_effort: effort, fw_thinking_budget: budget, fw_show_thinking: isShown });
}

function toResponseFormat(body: JsonObject): JsonObject | undefined {
  const format = object(object(body, "output_config"), "format") ?? object(body, "output_format");
  const schema = format?.["type"] === "json_schema" ? object(format, "schema") : undefined;
  if (schema === undefined) return undefined;
  const strict = strictSchema(schema);
  return {
    type: "json_schema",
    json_schema: compact({ name: "answer", schema: strict ?? schema, strict: strict && true }),
  };
}

function resolveUserId(body: JsonObject, context: BridgeContext): string | undefined {
  const user = text(object(body, "metadata"), "user_id");
  if (user === undefined || user.length <= MAX_USER) return user;
  context.dropped("metadata.user_id");
  return undefined;
}

function toServiceTier(body: JsonObject): string | undefined {
  const tier = text(body, "service_tier");
  return tier === "standard_only" ? "default" : tier;
}
