import { isObject } from "../../../lib/text/json.ts";
import type { StreamEvent } from "../../../dialects/core/types.ts";
import type { ResponseTransform } from "../types.ts";

/**
 * Moves usage from the finishing chunk to a chunk of its own if the client did not request it. That chunk is counted
 * and then cut, like any other that only the gateway requested, and the finish reason stays.
 */
export const usageOnFinish: ResponseTransform = {
  name: "usage on the finishing chunk",
  marks: ['"usage":{', '"usage": {'],
  stream: (context) => (context.spec.wantsStreamUsage ? undefined : split),
};

function split(event: StreamEvent): StreamEvent | readonly StreamEvent[] {
  const { data } = event;
  const choices = data?.["choices"];
  if (!data || !isObject(data["usage"]) || !Array.isArray(choices) || choices.length === 0) return event;
  const { usage, ...chunk } = data;
  return [
    { event: event.event, data: chunk, raw: "" },
    { event: event.event, data: { ...chunk, choices: [], usage }, raw: "" },
  ];
}
