import { parseObject, type JsonObject } from "./json.ts";

const LF = 10;
const CR = 13;
const SPACE = 32;
const BRACE = 123;
const BLANK_LINE = Buffer.from("\n\n");
const EMPTY = Buffer.alloc(0);
/** A waiting part is copied if it is smaller than this fraction of the read buffer that it would retain. */
const SMALL_SHARE = 8;
/** The first bytes of nearly every block of one line. */
const DATA = Buffer.from("data: ");

/** One block of a stream without its blank line, as its relevant fields. */
export interface SseBlock {
  readonly event: string | undefined;
  /** All data lines joined by a line feed; undefined for blocks without data (comments, retry). */
  readonly data: string | undefined;
  readonly id: string | undefined;
}

/** One server-sent event; `data` is undefined for events whose data is not a JSON object (`[DONE]`). */
export interface StreamEvent {
  readonly event: string | undefined;
  readonly data: JsonObject | undefined;
  /** The data as it was sent; "" for events that the gateway creates, which are encoded from `data`. */
  readonly raw: string;
}

/** Thrown when a block grows past the limit of its framer. */
export class BlockTooLargeError extends Error {
  constructor(maxBytes: number) {
    super(`an event of the stream is larger than ${maxBytes} bytes`);
    this.name = "BlockTooLargeError";
  }
}

/** Splits a byte stream into whole event blocks, with LF line ends and without a byte order mark. */
export interface BlockFramer {
  /**
   * Returns every block that is complete now, as one buffer that ends with a blank line; undefined if there is none.
   * Returns the same buffer if it contains only whole blocks. Throws BlockTooLargeError.
   */
  feed(chunk: Buffer): Buffer | undefined;
  /** Returns the unfinished event at the end of the stream, completed with a blank line; undefined if there is none. */
  rest(): Buffer | undefined;
}

/** `maxBytes` limits one block; a larger one throws `BlockTooLargeError`. */
export function createBlockFramer(options: { readonly maxBytes: number }): BlockFramer {
  const normalise = createNormaliser();
  let carried: Buffer[] = [];
  let carriedBytes = 0;

  function keep(part: Buffer): undefined {
    if (part.length === 0) return undefined;
    carriedBytes += part.length;
    if (carriedBytes > options.maxBytes) throw new BlockTooLargeError(options.maxBytes);
    carried.push(part.length * SMALL_SHARE < part.buffer.byteLength ? Buffer.from(part) : part);
    return undefined;
  }

  function release(part: Buffer): Buffer {
    if (carriedBytes === 0) return part;
    const all = part.length === 0 && carried.length === 1 ? carried[0]! : Buffer.concat([...carried, part]);
    carried = [];
    carriedBytes = 0;
    return all;
  }

  /** Returns the index after the last blank line, including one that begins in the carried bytes. */
  function lastBoundary(chunk: Buffer): number {
    const found = chunk.lastIndexOf(BLANK_LINE);
    if (found >= 0) return found + 2;
    return chunk[0] === LF && carried.at(-1)?.at(-1) === LF ? 1 : 0;
  }

  return {
    feed(chunk) {
      const bytes = normalise(chunk);
      const length = bytes.length;
      if (length === 0) return undefined;
      if (carriedBytes === 0 && length > 1 && bytes[length - 1] === LF && bytes[length - 2] === LF) {
        if (bytes[0] !== LF) return bytes;
        const blocks = skipBlankLines(bytes);
        return blocks.length === 0 ? undefined : blocks;
      }
      const boundary = lastBoundary(bytes);
      if (boundary === 0) return keep(carriedBytes === 0 ? skipBlankLines(bytes) : bytes);
      const blocks = skipBlankLines(release(bytes.subarray(0, boundary)));
      keep(skipBlankLines(bytes.subarray(boundary)));
      return blocks.length === 0 ? undefined : blocks;
    },
    rest() {
      const bytes = skipBlankLines(release(normalise(undefined)));
      if (bytes.length === 0) return undefined;
      return Buffer.concat([bytes, bytes.at(-1) === LF ? BLANK_LINE.subarray(1) : BLANK_LINE]);
    },
  };
}

/** Removes blank lines before a block, which have no meaning; without them every block starts with its first field. */
function skipBlankLines(bytes: Buffer): Buffer {
  let start = 0;
  while (bytes[start] === LF) start++;
  return start === 0 ? bytes : bytes.subarray(start);
}

/** Removes a leading byte order mark and converts CRLF and CR to LF; called with undefined at the end of the stream. */
function createNormaliser(): (chunk: Buffer | undefined) => Buffer {
  let head: Buffer | undefined = EMPTY;
  let endedWithCr = false;

  function lines(bytes: Buffer): Buffer {
    const skip = endedWithCr && bytes[0] === LF ? 1 : 0;
    if (bytes.length === 0) return bytes;
    endedWithCr = bytes.at(-1) === CR;
    const first = bytes.indexOf(CR);
    if (first < 0) return skip === 0 ? bytes : bytes.subarray(1);
    const out = Buffer.allocUnsafe(bytes.length);
    let length = bytes.copy(out, 0, skip, first);
    for (let i = first; i < bytes.length; i++) {
      const byte = bytes[i]!;
      if (byte !== CR) out[length++] = byte;
      else if (bytes[i + 1] !== LF) out[length++] = LF;
    }
    return out.subarray(0, length);
  }

  return (chunk) => {
    if (head === undefined) return chunk === undefined ? EMPTY : lines(chunk);
    const bytes = head.length === 0 ? (chunk ?? EMPTY) : Buffer.concat([head, chunk ?? EMPTY]);
    if (chunk !== undefined && bytes.length < 3 && startsLikeMark(bytes)) {
      head = bytes;
      return EMPTY;
    }
    head = undefined;
    return lines(bytes.length >= 3 && startsLikeMark(bytes) ? bytes.subarray(3) : bytes);
  };
}

function startsLikeMark(bytes: Buffer): boolean {
  const mark = [0xef, 0xbb, 0xbf];
  return mark.slice(0, Math.min(3, bytes.length)).every((byte, index) => bytes[index] === byte);
}

/** Reads the fields of every block in a buffer of whole, LF-framed blocks. Comments are skipped. */
export function parseBlocks(blocks: Buffer): SseBlock[] {
  const found: SseBlock[] = [];
  for (const block of splitBlocks(blocks)) {
    const parsed = parseBlock(block);
    if (parsed !== undefined) found.push(parsed);
  }
  return found;
}

/** Returns every event of a buffer of whole, LF-framed blocks, with its JSON parsed. Comments are skipped. */
export function parseEvents(blocks: Buffer): StreamEvent[] {
  const found: StreamEvent[] = [];
  for (const block of splitBlocks(blocks)) {
    const event = parseEvent(block);
    if (event !== undefined) found.push(event);
  }
  return found;
}

/** Returns the first event that `accepts` takes; later ones are not read. */
export function firstEvent(blocks: Buffer, accepts: (event: StreamEvent) => boolean): StreamEvent | undefined {
  for (let start = 0; start < blocks.length;) {
    const next = blockEnd(blocks, start);
    const event = parseEvent(blocks.subarray(start, next));
    if (event !== undefined && accepts(event)) return event;
    start = next;
  }
  return undefined;
}

function parseEvent(block: Buffer): StreamEvent | undefined {
  const parsed = parseBlock(block);
  if (parsed === undefined) return undefined;
  const { event, data = "" } = parsed;
  return { event, data: data.charCodeAt(0) === BRACE ? parseObject(data) : undefined, raw: data };
}

/** Returns the single blocks of a buffer of whole blocks, each with its blank line. Does not copy. */
export function splitBlocks(blocks: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let start = 0; start < blocks.length;) {
    const next = blockEnd(blocks, start);
    if (blocks[start] !== LF) found.push(blocks.subarray(start, next));
    start = next;
  }
  return found;
}

/** Returns the index after the block that begins at `start`; a blank line between blocks counts as its own block. */
function blockEnd(blocks: Buffer, start: number): number {
  if (blocks[start] === LF) return start + 1;
  const end = blocks.indexOf(BLANK_LINE, start);
  return end < 0 ? blocks.length : end + BLANK_LINE.length;
}

function parseBlock(block: Buffer): SseBlock | undefined {
  const end = block.length - 2;
  if (beginsWithData(block) && block.indexOf(LF) === end)
    return { event: undefined, data: block.toString("utf8", DATA.length, end), id: undefined };
  return parseLines(block.toString("utf8"));
}

function beginsWithData(block: Buffer): boolean {
  for (let at = 0; at < DATA.length; at++) if (block[at] !== DATA[at]) return false;
  return true;
}

function parseLines(text: string): SseBlock | undefined {
  let event: string | undefined;
  let data: string | undefined;
  let id: string | undefined;
  for (const line of text.split("\n")) {
    const [name, value] = parseField(line);
    if (name === "data") data = data === undefined ? value : `${data}\n${value}`;
    else if (name === "event") event = value;
    else if (name === "id") id = value;
  }
  return data === undefined && event === undefined ? undefined : { event, data, id };
}

/** Returns name and value of a line; comments and blank lines have no name. */
function parseField(line: string): readonly [string, string] {
  const colon = line.indexOf(":");
  if (colon < 0) return [line, ""];
  return [line.slice(0, colon), line.slice(line.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1)];
}

/** Returns one block with its blank line; `data` must not contain a line feed (JSON never does). */
export function encodeBlock(data: string, event?: string): string {
  return event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`;
}
