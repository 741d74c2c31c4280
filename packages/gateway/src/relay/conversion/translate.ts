import { classifyStreamEvent } from "./event-kind.ts";
import { encodeBlock, parseEvents, splitBlocks, type StreamEvent } from "../../lib/text/sse.ts";
import { dialectById } from "../../dialects/index.ts";
import type { Bridge, BridgeContext, Conversion, StreamBridge } from "../../dialects/core/bridge.ts";
import type { Dialect, DialectId, JsonObject, Usage } from "../../dialects/core/types.ts";

/** Translates a stream through one or two bridges. */
export interface StreamTranslation {
  /** Translates whole event blocks of the upstream for the client (possibly to none), up to one that sets `fault`. */
  blocks(blocks: Buffer): Buffer;
  /** Why the stream cannot be translated any further; undefined = it can. */
  readonly fault: Error | undefined;
  /** Bytes of the last `blocks` before the event that set `fault`. */
  readonly readBytes: number;
  /**
   * Returns the bytes that end the client's stream after the upstream's regular end; `counted` if it reported no usage.
   */
  end(counted?: Usage): Buffer;
}

const NONE: readonly Conversion[] = [];

/** Begins the conversions of one attempt, from the client's protocol to the upstream's. */
export function beginConversions(bridges: readonly Bridge[], context: BridgeContext): readonly Conversion[] {
  return bridges.length === 0 ? NONE : bridges.map((bridge) => bridge.begin(context));
}

/** Converts the client's request to the upstream's protocol. Throws if that is impossible. */
export function translateRequest(conversions: readonly Conversion[], body: JsonObject): JsonObject {
  return conversions.reduce((json, conversion) => conversion.request(json), body);
}

/** Converts an upstream's whole answer to the client's protocol. Throws if that is impossible. */
export function translateAnswer(conversions: readonly Conversion[], body: JsonObject): JsonObject {
  return conversions.reduceRight((json, conversion) => conversion.response(json), body);
}

/**
 * Converts event blocks of the upstream, which are in the dialect `upstream`, to the client's protocol, event by event:
 * everything before an unreadable event is delivered, whether or not both share a read of the socket.
 */
export function createStreamTranslation(conversions: readonly Conversion[], upstream: DialectId): StreamTranslation {
  const steps = conversions.toReversed().map((conversion) => conversion.stream());
  const classifyEvent = dialectById(upstream)?.classifyEvent;
  let fault: Error | undefined;
  let readBytes = 0;
  return {
    blocks(blocks) {
      const done: StreamEvent[] = [];
      readBytes = 0;
      try {
        for (const block of splitBlocks(blocks)) {
          for (const event of parseEvents(block)) done.push(...run(steps, readable(event, classifyEvent)));
          readBytes = block.byteOffset - blocks.byteOffset + block.length;
        }
      } catch (error) {
        fault = error as Error;
      }
      return encode(done);
    },
    get fault() {
      return fault;
    },
    get readBytes() {
      return readBytes;
    },
    end: (counted) => encode(finish(steps, counted)),
  };
}

/** Throws for an event that does not fit the protocol: otherwise its text would be lost unnoticed. */
function readable(event: StreamEvent, classifyEvent: Dialect["classifyEvent"]): StreamEvent {
  if (classifyStreamEvent(event, classifyEvent) === "unreadable")
    throw new Error("an event of the stream cannot be read");
  return event;
}

function run(steps: readonly StreamBridge[], event: StreamEvent): readonly StreamEvent[] {
  let current: readonly StreamEvent[] = [event];
  for (const step of steps) {
    const [only] = current;
    current = current.length === 1 && only ? step.event(only) : current.flatMap((each) => step.event(each));
  }
  return current;
}

/** Ends the steps, beginning at the upstream's side; the output of one runs through the later ones before they end. */
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
