import { kindOfEvent } from "../response/event-blocks.ts";
import { encodeBlock, parseEvents, type StreamEvent } from "../../lib/text/sse.ts";
import { dialectById } from "../../dialects/index.ts";
import type { Bridge, BridgeContext, Dialect, JsonObject, StreamBridge, Usage } from "../../dialects/core/types.ts";

/** Translates a stream through one or two bridges. */
export interface StreamTranslation {
  /** Translates whole event blocks of the upstream for the client (maybe to none). Throws for unreadable events. */
  blocks(blocks: Buffer): Buffer;
  /** The bytes that end the client's stream after the upstream's regular end; `counted` if the upstream reported no usage. */
  end(counted?: Usage): Buffer;
}

/** `bridges` run from the client's protocol to the upstream's. */
export function translateRequest(bridges: readonly Bridge[], body: JsonObject, context: BridgeContext): JsonObject {
  return bridges.reduce((json, bridge) => bridge.request(json, context), body);
}

/** An upstream's whole answer in the client's protocol. Throws when it cannot be converted. */
export function translateAnswer(bridges: readonly Bridge[], body: JsonObject, context: BridgeContext): JsonObject {
  return bridges.reduceRight((json, bridge) => bridge.response(json, context), body);
}

/**
 * Converts event blocks of the upstream to the client's protocol, block by block. Throws when an event cannot be
 * read.
 */
export function createStreamTranslation(bridges: readonly Bridge[], context: BridgeContext): StreamTranslation {
  const steps = bridges.toReversed().map((bridge) => bridge.stream(context));
  const upstream = bridges.at(-1)?.upstream;
  const kindOf = upstream && dialectById(upstream)?.kindOf;
  return {
    blocks: (blocks) => encode(run(steps, readable(parseEvents(blocks), kindOf))),
    end: (counted) => encode(finish(steps, counted)),
  };
}

/** Throws for an event that does not fit the protocol: otherwise its text would be lost unnoticed. */
function readable(events: readonly StreamEvent[], kindOf: Dialect["kindOf"]): readonly StreamEvent[] {
  for (const event of events)
    if (kindOfEvent(event, kindOf) === "unreadable") throw new Error("an event of the stream cannot be read");
  return events;
}

function run(steps: readonly StreamBridge[], events: readonly StreamEvent[]): readonly StreamEvent[] {
  let current = events;
  for (const step of steps) {
    const [only] = current;
    current = current.length === 1 && only ? step.event(only) : current.flatMap((event) => step.event(event));
  }
  return current;
}

/** Ends the steps from the upstream's side; what one emits runs through the ones after it before they end. */
function finish(steps: readonly StreamBridge[], counted: Usage | undefined): readonly StreamEvent[] {
  let events: readonly StreamEvent[] = [];
  for (const step of steps) events = [...events.flatMap((event) => step.event(event)), ...step.end(counted)];
  return events;
}

function encode(events: readonly StreamEvent[]): Buffer {
  let text = "";
  for (const event of events)
    text += encodeBlock(event.raw === "" && event.data ? JSON.stringify(event.data) : event.raw, event.event);
  return Buffer.from(text);
}
