// Some servers hang a member of their own on a tool call (`extra_content`, as the signature of the thought behind it)
// and want it back with the call. It travels inside of the call's id and opens again for the model that it came from.
import { isObject, object, objects, text } from "../../read.ts";
import type { BridgeContext, JsonObject, StreamBridge, StreamEvent, Usage } from "../../types.ts";
import { parseJson } from "./arguments.ts";
import { event } from "./chat-answer.ts";
import { splitSignature } from "./signature.ts";

const MARK = "__extra__";

/** The id that the upstream gave a call: other models know nothing of what travels in it, and ids may not be long. */
export function plainCallId(id: string): string {
  const { id: unsigned } = splitSignature(id);
  const at = unsigned.indexOf(MARK);
  return at < 0 ? unsigned : unsigned.slice(0, at);
}

/** Chat messages whose calls and results have plain ids; `extraOf` tells what else a call gets by its id. */
export function withPlainCallIds(body: JsonObject, extraOf: (id: string) => JsonObject = () => ({})): JsonObject {
  const messages = objects(body, "messages");
  const isLoaded = (holder: JsonObject, key: string) => {
    const id = text(holder, key);
    return id !== undefined && plainCallId(id) !== id;
  };
  const isMeant = (message: JsonObject) =>
    isLoaded(message, "tool_call_id") || objects(message, "tool_calls").some((call) => isLoaded(call, "id"));
  if (!messages.some(isMeant)) return body;
  const plain = (holder: JsonObject, key: string) => ({ [key]: plainCallId(text(holder, key) ?? "") });
  return {
    ...body,
    messages: messages.map((message) => {
      if (!isMeant(message)) return message;
      if (message["tool_call_id"] !== undefined) return { ...message, ...plain(message, "tool_call_id") };
      const calls = objects(message, "tool_calls");
      return {
        ...message,
        tool_calls: calls.map((call) => ({ ...call, ...plain(call, "id"), ...extraOf(text(call, "id") ?? "") })),
      };
    }),
  };
}

/** Messages with what their calls' ids hold, for the model that it came from. */
export function withExtras(body: JsonObject, { upstreamModel }: BridgeContext): JsonObject {
  return withPlainCallIds(body, (id) => {
    const extra = opened(id, upstreamModel);
    return extra === undefined ? {} : { extra_content: extra };
  });
}

/** A whole answer whose calls hold theirs in their ids. */
export function keepingExtras(body: JsonObject, context: BridgeContext): JsonObject {
  const choices = objects(body, "choices");
  return choices.length === 0 ? body : { ...body, choices: choices.map((choice) => kept(choice, "message", context)) };
}

/** The same for a stream. */
export class KeptExtras implements StreamBridge {
  readonly #inner: StreamBridge;
  readonly #context: BridgeContext;

  constructor(inner: StreamBridge, context: BridgeContext) {
    this.#inner = inner;
    this.#context = context;
  }

  event(given: StreamEvent): StreamEvent[] {
    const choices = objects(given.data, "choices");
    const isMeant = choices.some((choice) => objects(object(choice, "delta"), "tool_calls").some(hasExtra));
    if (!isMeant) return this.#inner.event(given);
    const keeping = choices.map((choice) => kept(choice, "delta", this.#context));
    return this.#inner.event(event({ ...given.data, choices: keeping }));
  }

  end(counted?: Usage): StreamEvent[] {
    return this.#inner.end(counted);
  }
}

function kept(choice: JsonObject, key: "message" | "delta", context: BridgeContext): JsonObject {
  const holder = object(choice, key);
  const calls = objects(holder, "tool_calls");
  if (!calls.some(hasExtra)) return choice;
  return { ...choice, [key]: { ...holder, tool_calls: calls.map((call) => loaded(call, context)) } };
}

function hasExtra(call: JsonObject): boolean {
  return object(call, "extra_content") !== undefined && (text(call, "id") ?? "") !== "";
}

function loaded(call: JsonObject, { upstreamModel }: BridgeContext): JsonObject {
  if (!hasExtra(call)) return call;
  const { extra_content: extra, ...rest } = call;
  const sealed = Buffer.from(JSON.stringify({ model: upstreamModel, extra })).toString("base64url");
  return { ...rest, id: `${text(call, "id") ?? ""}${MARK}${sealed}` };
}

function opened(id: string, model: string): JsonObject | undefined {
  const at = id.indexOf(MARK);
  if (at < 0) return undefined;
  const value = parseJson(Buffer.from(id.slice(at + MARK.length), "base64url").toString("utf8"));
  return isObject(value) && value["model"] === model ? object(value, "extra") : undefined;
}
