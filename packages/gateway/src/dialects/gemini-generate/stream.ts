import { encodeBlock, parseBlocks } from "../../lib/text/sse.ts";
import { compact, isSet, number, object, objects, text } from "../core/read.ts";
import type { JsonObject, StreamForm } from "../core/types.ts";

/** Assembles the whole answer from streamed pieces; undefined if there are none. */
export function assemblePieces(events: readonly JsonObject[]): JsonObject | undefined {
  const pieces = events.filter((event) => event["candidates"] !== undefined || event["promptFeedback"] !== undefined);
  if (pieces.length === 0) return undefined;
  let whole: JsonObject = {};
  const candidates = new Map<number, JsonObject>();
  for (const piece of pieces) {
    const { candidates: _candidates, ...rest } = piece;
    whole = { ...whole, ...rest };
    for (const candidate of objects(piece, "candidates")) {
      const index = number(candidate, "index") ?? 0;
      candidates.set(index, merge(candidates.get(index), candidate));
    }
  }
  return compact({ candidates: candidates.size === 0 ? undefined : [...candidates.values()], ...whole });
}

function merge(before: JsonObject | undefined, next: JsonObject): JsonObject {
  const parts = [...objects(object(before, "content"), "parts")];
  for (const part of objects(object(next, "content"), "parts")) addPart(parts, part);
  const content = { role: "model", ...object(before, "content"), ...object(next, "content"), parts };
  return { ...before, ...next, content };
}

/** Adds a part; consecutive texts of one kind are joined. */
function addPart(parts: JsonObject[], part: JsonObject): void {
  const last = parts.at(-1);
  const isText = last !== undefined && text(last, "text") !== undefined && text(part, "text") !== undefined;
  if (!isText || last["thought"] !== part["thought"] || isSet(last["thoughtSignature"])) {
    parts.push({ ...part });
    return;
  }
  parts[parts.length - 1] = { ...last, ...part, text: `${text(last, "text") ?? ""}${text(part, "text") ?? ""}` };
}

const EVENT = Buffer.from("event:");
const LATER_EVENT = Buffer.from("\nevent:");
const DONE = Buffer.from("[DONE]");

/** Removes event names and events that are not JSON: Google's clients drop the former and fail on the latter. */
export function bareEvents(blocks: Buffer): Buffer {
  const isNamed = blocks.indexOf(EVENT) === 0 || blocks.includes(LATER_EVENT);
  if (!isNamed && !blocks.includes(DONE)) return blocks;
  const events = parseBlocks(blocks).flatMap(({ data }) => (data === undefined || data === "[DONE]" ? [] : [data]));
  return Buffer.from(events.map((data) => encodeBlock(data)).join(""));
}

const NEWLINE = Buffer.from("\n");

/** Writes a stream as a JSON array, for clients that did not request SSE. */
export function createArrayWriter(): StreamForm {
  let isOpen = false;
  const open = (): string => {
    const lead = isOpen ? ",\r\n" : "[";
    isOpen = true;
    return lead;
  };
  return {
    contentType: "application/json; charset=utf-8",
    beat: () => NEWLINE,
    feed(blocks) {
      let written = "";
      for (const { data } of parseBlocks(blocks)) if (data !== undefined && data !== "[DONE]") written += open() + data;
      return Buffer.from(written);
    },
    end: () => Buffer.from(isOpen ? "]" : "[]"),
  };
}

/** A candidate that adds nothing: Google's client forgets a turn if any event has no candidate. */
export const NO_MORE = { content: { role: "model", parts: [{ text: "" }] }, index: 0 };

const FIELD = Buffer.from("data: ");
const SPACE = Buffer.from(" ");
const NONE = Buffer.alloc(0);

/**
 * Creates a writer with keep-alives for Google's clients, which fail on comments, and the oldest one even on blank
 * lines. All of them accept blanks before the JSON of an event, so a keep-alive opens the next event, and further ones
 * add a blank to it.
 */
export function createEventWriter(): StreamForm {
  let isOpen = false;
  const close = (): Buffer => {
    isOpen = false;
    return Buffer.from(`${JSON.stringify({ candidates: [NO_MORE] })}\n\n`);
  };
  return {
    contentType: "text/event-stream; charset=utf-8",
    beat() {
      if (isOpen) return SPACE;
      isOpen = true;
      return FIELD;
    },
    feed(blocks) {
      if (!isOpen || blocks.length === 0) return blocks;
      if (blocks.indexOf(FIELD) !== 0) return Buffer.concat([close(), blocks]);
      isOpen = false;
      return blocks.subarray(FIELD.length);
    },
    end: () => (isOpen ? close() : NONE),
  };
}
