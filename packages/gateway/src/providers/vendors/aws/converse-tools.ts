import type { JsonObject } from "../../../dialects/core/types.ts";
import { compact } from "../../../dialects/core/read.ts";
import { chatFunctions, chatToolChoice, type ChatFunction, type ChatMessage } from "../../core/private/chat-reader.ts";

/**
 * Builds the tool members. The vendor requires tools if the history holds calls, even if the client offers none now.
 */
export function toolConfig(body: JsonObject, messages: readonly ChatMessage[]): JsonObject | undefined {
  const choice = chatToolChoice(body);
  const called = [...new Set(messages.flatMap(({ toolCalls }) => toolCalls.map(({ name }) => name)))];
  const offered = chatFunctions(body);
  const functions = offered.length === 0 ? called.map(calledBefore) : offered;
  if (functions.length === 0 || (choice?.mode === "none" && called.length === 0)) return undefined;
  const tools = functions.map(({ name, description, parameters }) => ({
    toolSpec: compact({
      name,
      description: description || undefined,
      inputSchema: { json: parameters ?? { type: "object", properties: {} } },
    }),
  }));
  return compact({ tools, toolChoice: offered.length === 0 ? undefined : toToolChoice(choice) });
}

function calledBefore(name: string): ChatFunction {
  return { name, description: undefined, parameters: undefined };
}

function toToolChoice(choice: ReturnType<typeof chatToolChoice>): JsonObject | undefined {
  switch (choice?.mode) {
    case "required":
      return { any: {} };
    case "named":
      return { tool: { name: choice.name } };
    case "auto":
      return { auto: {} };
    default:
      return undefined;
  }
}
