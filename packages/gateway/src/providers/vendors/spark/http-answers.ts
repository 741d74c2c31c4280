import type { JsonObject, StreamEvent } from "../../../dialects/core/types.ts";
import { isSet, object, objects, text } from "../../../dialects/core/read.ts";
import { omitMembers } from "../../../dialects/core/json-edit.ts";
import { eachChoice } from "../../core/response-transforms/each-choice.ts";
import type { ResponseContext, ResponseTransform } from "../../core/types.ts";

const VENDOR_MEMBERS = ["code", "message", "sid"];

/** Adds members that the HTTP interface leaves out but clients need: id, object, time, model, finish reason. */
export const httpAnswers: ResponseTransform = {
  name: "shape of Spark's HTTP answers",
  answer(body, context) {
    if (!Array.isArray(body["choices"])) return body;
    const isCall = objects(body, "choices").some((choice) => callsIn(choice, "message"));
    return shaped(ended(body, isCall ? "tool_calls" : "stop"), "chat.completion", context);
  },
  stream(context) {
    let hasCalls = false;
    return (event): StreamEvent => {
      const { data } = event;
      if (!data || !Array.isArray(data["choices"])) return event;
      hasCalls ||= objects(data, "choices").some((choice) => callsIn(choice, "delta"));
      const reason = isSet(data["usage"]) ? (hasCalls ? "tool_calls" : "stop") : null;
      return { event: event.event, data: shaped(ended(data, reason), "chat.completion.chunk", context), raw: "" };
    };
  },
};

function callsIn(choice: JsonObject, member: string): boolean {
  return objects(object(choice, member), "tool_calls").length > 0;
}

/** Adds the finish reason to the last piece, which is the one with usage. */
function ended(body: JsonObject, reason: string | null): JsonObject {
  return eachChoice(body, (choice) => (isSet(choice["finish_reason"]) ? choice : { ...choice, finish_reason: reason }));
}

function shaped(body: JsonObject, kind: string, { spec, now, requestId }: ResponseContext): JsonObject {
  return {
    id: text(body, "sid") ?? `chatcmpl-${requestId}`,
    object: kind,
    created: Math.floor(now / 1000),
    model: spec.model,
    ...omitMembers(body, VENDOR_MEMBERS),
  };
}
