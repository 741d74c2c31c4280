// Some servers hang a member of their own on a tool call (`extra_content`, as the signature of the thought behind it)
// and want it back with the call. It travels inside of the call's id and opens again for the model that it came from.
import { extraIn, joinExtra } from "../../../core/call-ids.ts";
import { withCallIdsFor } from "../../../core/chat-calls.ts";
import { eachObject } from "../../../core/json-edit.ts";
import { isObject, object, objects, text } from "../../../core/read.ts";
import type { BridgeContext, JsonObject, StreamBridge, StreamEvent, Usage } from "../../../core/types.ts";
import { parseJson } from "../../../../lib/text/json.ts";
import { event } from "../answer/chat-answer.ts";

/** A chat request whose calls have their own ids again, and what these held for the model that it came from. */
export function withExtras(body: JsonObject, { upstreamModel }: BridgeContext): JsonObject {
  return withCallIdsFor(upstreamModel, body, (id) => {
    const value = parseJson(extraIn(id) ?? "");
    return isObject(value) && value["model"] === upstreamModel ? object(value, "extra") : undefined;
  });
}

/** A whole answer whose calls hold theirs in their ids. */
export function keepingExtras(body: JsonObject, context: BridgeContext): JsonObject {
  return eachObject(body, "choices", (choice) => preservedIn(choice, "message", context));
}

/** The same for a stream. */
export class PreservedExtras implements StreamBridge {
  readonly #inner: StreamBridge;
  readonly #context: BridgeContext;

  constructor(inner: StreamBridge, context: BridgeContext) {
    this.#inner = inner;
    this.#context = context;
  }

  event(given: StreamEvent): StreamEvent[] {
    if (given.data === undefined) return this.#inner.event(given);
    const data = eachObject(given.data, "choices", (choice) => preservedIn(choice, "delta", this.#context));
    return this.#inner.event(data === given.data ? given : event(data));
  }

  end(counted?: Usage): StreamEvent[] {
    return this.#inner.end(counted);
  }
}

function preservedIn(choice: JsonObject, key: "message" | "delta", { upstreamModel }: BridgeContext): JsonObject {
  const holder = object(choice, key);
  if (!objects(holder, "tool_calls").some((call) => call["extra_content"] !== undefined)) return choice;
  const preserved = eachObject(holder ?? {}, "tool_calls", (call) => {
    const { extra_content: extra, ...rest } = call;
    const id = text(call, "id") ?? "";
    if (!isObject(extra) || id === "") return call;
    return { ...rest, id: joinExtra(id, JSON.stringify({ model: upstreamModel, extra })) };
  });
  return { ...choice, [key]: preserved };
}
