// Clients that offer `functions`, the older form of tools, read `function_call`, one per answer.
import { object, objects, text } from "../../../core/read.ts";
import type { JsonObject, StreamEvent } from "../../../core/types.ts";

export function offersLegacyFunctions(body: JsonObject): boolean {
  return objects(body, "functions").length > 0 && objects(body, "tools").length === 0;
}

/** Returns the answer in the older form. */
export function legacyAnswer(answer: JsonObject): JsonObject {
  return { ...answer, choices: objects(answer, "choices").map((choice) => legacyChoice(choice, "message")) };
}

export function legacyEvents(events: StreamEvent[]): StreamEvent[] {
  return events.map((event) => {
    if (event.data === undefined) return event;
    const choices = objects(event.data, "choices").map((choice) => legacyChoice(choice, "delta"));
    return { ...event, data: { ...event.data, choices } };
  });
}

/** Reports the first of several calls; the model repeats the others after the client has answered it. */
function legacyChoice(choice: JsonObject, key: "message" | "delta"): JsonObject {
  const { tool_calls, ...message } = object(choice, key) ?? {};
  const finish_reason =
    text(choice, "finish_reason") === "tool_calls" ? "function_call" : (choice["finish_reason"] ?? null);
  if (tool_calls === undefined) return { ...choice, finish_reason };
  const first = objects({ tool_calls }, "tool_calls").find((call) => (call["index"] ?? 0) === 0);
  const function_call = object(first, "function");
  return { ...choice, [key]: { ...message, ...(function_call && { function_call }) }, finish_reason };
}
