// Some servers add a member of their own to a tool call (`extra_content`, such as the signature of its thought) and
// require it back with the call. Clients carry it inside the call's id, and it is restored for the model that it came
// from.
import { extraIn, joinExtra } from "../../../core/call-ids.ts";
import { withCallIdsFor } from "../../../core/chat-calls.ts";
import { eachObject } from "../../../core/json-edit.ts";
import { isObject, object, objects, text } from "../../../core/read.ts";
import type { BridgeContext, StreamBridge } from "../../../core/bridge.ts";
import type { JsonObject, StreamEvent, Usage } from "../../../core/types.ts";
import { parseJson } from "../../../../lib/text/json.ts";
import { readThought } from "../answer/finish-words.ts";
import {
  isSealedSignature,
  openSignatures,
  sealSignatures,
  signatureIn,
  signatureMembers,
} from "../reasoning/sealed-signatures.ts";
import { event } from "../answer/chat-answer.ts";

/**
 * Returns a chat request whose calls have their own ids again, with what the ids carried if it came from this model.
 */
export function withExtras(body: JsonObject, { upstreamModel }: BridgeContext): JsonObject {
  const named = withCallIdsFor(upstreamModel, body, (id) => {
    const value = parseJson(extraIn(id) ?? "");
    return isObject(value) && value["model"] === upstreamModel ? object(value, "extra") : undefined;
  });
  return SIGNS.test(upstreamModel) ? eachObject(named, "messages", withSignatures) : named;
}

/** Models whose signatures may be too long for ids. */
const SIGNS = /gemini/i;
/** Characters of a signature that an id carries. */
const MAX_IN_ID = 160;

/** Returns a turn whose calls have their signatures again, from its thinking. */
function withSignatures(message: JsonObject): JsonObject {
  if (message["fw_thinking"] === undefined) return message;
  const signatures = openSignatures(message);
  if (signatures.size === 0) return message;
  const fw_thinking = objects(message, "fw_thinking").filter((block) => !isSealedSignature(block));
  return eachObject({ ...message, fw_thinking }, "tool_calls", (call) => {
    const signature = signatures.get(text(call, "id") ?? "");
    return signature === undefined ? call : { ...call, ...signatureMembers(signature) };
  });
}

/** Moves the extra members of a whole answer's calls into their ids. */
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
  const signed: JsonObject[] = [];
  const preserved = eachObject(holder ?? {}, "tool_calls", (call) => {
    const { extra_content: extra, ...rest } = call;
    const id = text(call, "id") ?? "";
    if (!isObject(extra) || id === "") return call;
    if (SIGNS.test(upstreamModel) && (signatureIn(call) ?? "").length > MAX_IN_ID) {
      signed.push(call);
      return rest;
    }
    return { ...rest, id: joinExtra(id, JSON.stringify({ model: upstreamModel, extra })) };
  });
  if (signed.length === 0) return { ...choice, [key]: preserved };
  const sealed = sealSignatures(signed, key === "message" ? readThought(holder) : "");
  const fw_thinking = [...objects(holder, "fw_thinking"), ...sealed];
  return { ...choice, [key]: { ...preserved, fw_thinking } };
}
