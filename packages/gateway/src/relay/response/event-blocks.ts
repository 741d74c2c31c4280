import { parseEvents, splitBlocks, type StreamEvent } from "../../lib/text/sse.ts";
import type { JsonObject } from "../../dialects/core/types.ts";

const COMMENT_LINE = Buffer.from("\n:");
const DATA = Buffer.from("data:");
const BLANK_LINE = Buffer.from("\n\n");
const EMPTY_LIST = Buffer.from("[]");
const DONE = Buffer.from("[DONE]");
const COLON = 0x3a;

/** True if some line carries data: comments and bare `event:` lines alone do not begin an answer. */
export function hasData(blocks: Buffer): boolean {
  return blocks.includes(DATA);
}

/** Returns whole event blocks without the upstream's comments; the same buffer if there are none. */
export function stripComments(blocks: Buffer): Buffer {
  if (blocks[0] !== COLON && !blocks.includes(COMMENT_LINE)) return blocks;
  const rest = splitBlocks(blocks).map(withoutComments).filter(hasData);
  return Buffer.concat(rest);
}

/** Returns event blocks without those whose JSON matches; the same buffer if none does. */
export function cutEvents(blocks: Buffer, matches: (event: JsonObject) => boolean): Buffer {
  const all = splitBlocks(blocks);
  const rest = all.filter((block) => !isMatch(block, matches));
  return rest.length === all.length ? blocks : Buffer.concat(rest);
}

/** Returns the event blocks before the first one that reports a failure, by name or content. */
export function beforeError(blocks: Buffer, errorIn: (event: JsonObject) => unknown): Buffer {
  const tells = ({ event, data }: StreamEvent) =>
    event === "error" || (data !== undefined && errorIn(data) !== undefined);
  const all = splitBlocks(blocks);
  const at = all.findIndex((block) => parseEvents(block).some(tells));
  return at < 0 ? blocks : Buffer.concat(all.slice(0, at));
}

/**
 * Returns event blocks without those that hold only usage; the same buffer if there are none. Usage is at the end, so
 * the search covers the last run of such blocks; before it, only blocks with an empty list are read, because some
 * upstreams report after every piece of text.
 */
export function cutUsageEvents(blocks: Buffer, matches: (event: JsonObject) => boolean): Buffer {
  const all = splitBlocks(blocks);
  const rest: Buffer[] = [];
  let isCut = false;
  let at = all.length - 1;
  for (; at >= 0; at--) {
    const block = all[at] as Buffer;
    const [event] = parseEvents(block);
    if (event?.data === undefined) rest.unshift(block);
    else if (matches(event.data)) isCut = true;
    else if (isCut) break;
    else rest.unshift(block);
  }
  if (!isCut) return blocks;
  const before = all.slice(0, at + 1).filter((block) => !block.includes(EMPTY_LIST) || !isMatch(block, matches));
  return Buffer.concat([...before, ...rest]);
}

function isMatch(block: Buffer, matches: (event: JsonObject) => boolean): boolean {
  return parseEvents(block).some(({ data }) => data !== undefined && matches(data));
}

/** True if an event breaks off inside its JSON: the upstream was cut off, and the answer is not complete. */
export function isBrokenOff(blocks: Buffer): boolean {
  return parseEvents(blocks).some(({ data, raw }) => data === undefined && raw.startsWith("{"));
}

/** Returns event blocks without the last one. */
export function withoutLast(blocks: Buffer): Buffer {
  const before = blocks.lastIndexOf(BLANK_LINE, blocks.length - BLANK_LINE.length - 1);
  return blocks.subarray(0, before < 0 ? 0 : before + BLANK_LINE.length);
}

/** Returns event blocks without a `[DONE]` at their end. */
export function withoutTerminator(blocks: Buffer): Buffer {
  const at = blocks.lastIndexOf(DONE);
  if (at < 0) return blocks;
  const start = blocks.lastIndexOf(DATA, at);
  const between = start < 0 ? "" : blocks.toString("latin1", start + DATA.length, at);
  return start >= 0 && between.trim() === "" ? blocks.subarray(0, start) : blocks;
}

function withoutComments(block: Buffer): Buffer {
  const lines = block.toString("utf8").split("\n");
  return Buffer.from(lines.filter((line) => !line.startsWith(":")).join("\n"));
}
