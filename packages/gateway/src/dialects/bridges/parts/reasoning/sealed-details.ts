// Routers in front of several vendors report signed reasoning as `reasoning_details` and require it back inside a tool
// loop. Clients carry it as the signature of a thinking block, and it is opened again only for the model that it came
// from. It is base64, because Python clients decode signatures.
import { isObject, list, object, objects, text } from "../../../core/read.ts";
import type { BridgeContext, StreamBridge } from "../../../core/bridge.ts";
import type { JsonObject, StreamEvent, Usage } from "../../../core/types.ts";
import { parseJson } from "../../../../lib/text/json.ts";
import { callDeltas } from "../tools/call-sequence.ts";
import { event } from "../answer/chat-answer.ts";
import { readThought, readWords } from "../answer/finish-words.ts";

const LEAD = "fw:details:001:"; // 15 bytes, so that the text after it does not change its base64
const MARK = Buffer.from(LEAD).toString("base64");

function seal(details: readonly JsonObject[], thinking: string, { upstreamModel }: BridgeContext): JsonObject {
  const preserved = JSON.stringify({ model: upstreamModel, details });
  return { type: "thinking", thinking, signature: Buffer.from(LEAD + preserved).toString("base64") };
}

export function isSealedDetails(block: JsonObject): boolean {
  return text(block, "signature")?.startsWith(MARK) === true;
}

function open(block: JsonObject, model: string): readonly JsonObject[] {
  if (!isSealedDetails(block)) return [];
  const opened = Buffer.from(text(block, "signature") ?? "", "base64").toString("utf8");
  const preserved = parseJson(opened.slice(LEAD.length));
  return isObject(preserved) && preserved["model"] === model ? objects(preserved, "details") : [];
}

/** Returns the messages with the details in their thinking restored, for the model that they came from. */
export function withDetails(body: JsonObject, { upstreamModel }: BridgeContext): JsonObject {
  if (!objects(body, "messages").some((message) => objects(message, "fw_thinking").some(isSealedDetails))) return body;
  const messages = objects(body, "messages").map((message) => {
    const details = objects(message, "fw_thinking").flatMap((block) => open(block, upstreamModel));
    if (details.length === 0) return message;
    const { fw_thinking: _opened, ...rest } = message;
    return { ...rest, reasoning_details: details };
  });
  return { ...body, messages };
}

/** Seals the details of a whole answer; those that led to nothing visible are left out. */
export function sealedAnswer(body: JsonObject, context: BridgeContext): JsonObject {
  const [choice, ...others] = objects(body, "choices");
  const message = object(choice, "message");
  const details = objects(message, "reasoning_details");
  if (message === undefined || details.length === 0) return body;
  const thinking = readThought(message);
  if (thinking === "" && list(message, "tool_calls").length === 0) return body;
  const fw_thinking = [seal(details, thinking, context)];
  return { ...body, choices: [{ ...choice, message: { ...message, fw_thinking } }, ...others] };
}

/** The same for a stream: details are sealed before the first word or call, and later ones at the end. */
export class SealedDetails implements StreamBridge {
  readonly #inner: StreamBridge;
  readonly #context: BridgeContext;
  #details: JsonObject[] = [];
  #isVisible = false;

  constructor(inner: StreamBridge, context: BridgeContext) {
    this.#inner = inner;
    this.#context = context;
  }

  event(given: StreamEvent): StreamEvent[] {
    const [choice] = list(given.data, "choices");
    const delta = isObject(choice) ? object(choice, "delta") : undefined;
    if (delta === undefined) return this.#inner.event(given);
    if (delta["reasoning_details"] !== undefined)
      objects(delta, "reasoning_details").forEach((piece) => this.#add(piece));
    if (this.#details.length === 0) return this.#inner.event(given);
    const hasCalls = callDeltas(delta).length > 0;
    this.#isVisible ||= hasCalls || readThought(delta) !== "";
    if (!this.#isVisible || (!hasCalls && readWords(delta) === "")) return this.#inner.event(given);
    return this.#inner.event(this.#withSealed(given, delta));
  }

  end(counted?: Usage): StreamEvent[] {
    if (this.#details.length === 0 || !this.#isVisible) return this.#inner.end(counted);
    const choice = { index: 0, delta: { fw_thinking: this.#sealed() }, finish_reason: null };
    return [...this.#inner.event(event({ choices: [choice] })), ...this.#inner.end(counted)];
  }

  #withSealed({ data }: StreamEvent, delta: JsonObject): StreamEvent {
    const [choice, ...others] = objects(data, "choices");
    return event({ ...data, choices: [{ ...choice, delta: { ...delta, fw_thinking: this.#sealed() } }, ...others] });
  }

  #sealed(): JsonObject[] {
    const block = seal(this.#details, "", this.#context);
    this.#details = [];
    return [block];
  }

  /** Adds a piece: pieces of one text are joined to one detail; encrypted details arrive whole. */
  #add(piece: JsonObject): void {
    const last = this.#details.at(-1);
    const isNext = last?.["type"] === piece["type"] && last?.["index"] === piece["index"];
    if (last === undefined || !isNext || piece["data"] !== undefined) this.#details.push({ ...piece });
    else this.#details[this.#details.length - 1] = joined(last, piece);
  }
}

function joined(last: JsonObject, piece: JsonObject): JsonObject {
  const out: JsonObject = { ...last };
  for (const [key, value] of Object.entries(piece)) {
    if (key === "text" || key === "summary") out[key] = (text(last, key) ?? "") + (text(piece, key) ?? "");
    else if (value !== undefined && value !== null) out[key] = value;
  }
  return out;
}
