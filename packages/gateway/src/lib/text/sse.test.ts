import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BlockTooLargeError, createBlockFramer, encodeBlock, parseBlocks, parseEvents, splitBlocks } from "./sse.ts";

const LIMIT = 16 * 1024 * 1024;

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let start = 0;
  for (let i = 0; start < bytes.length; i++) {
    const size = Math.max(1, sizes[i % sizes.length] ?? 1);
    pieces.push(bytes.subarray(start, start + size));
    start += size;
  }
  return pieces;
}

function frame(chunks: readonly Buffer[]): string {
  const framer = createBlockFramer({ maxBytes: LIMIT });
  const parts = chunks.map((chunk) => framer.feed(chunk) ?? Buffer.alloc(0));
  return Buffer.concat([...parts, framer.rest() ?? Buffer.alloc(0)]).toString("utf8");
}

const line = fc.oneof(
  fc.constantFrom(": ping", "event: message", "id: 7", "retry: 100", "data:{}", "data: [DONE]", "data", "other: x"),
  fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => `data: ${text.replaceAll(/[\r\n]/g, "")}`),
);
const block = fc.array(line, { minLength: 1, maxLength: 4 });
const lineEnd = fc.constantFrom("\n", "\r\n", "\r");

describe("createBlockFramer", () => {
  it("returns the very same buffer when a chunk holds whole blocks", () => {
    const chunk = Buffer.from("data: a\n\ndata: b\n\n");
    expect(createBlockFramer({ maxBytes: LIMIT }).feed(chunk)).toBe(chunk);
  });

  it("carries the rest of a block, also inside a character", () => {
    const bytes = Buffer.from("data: ü\n\ndata: b\n\n");
    const framer = createBlockFramer({ maxBytes: LIMIT });
    expect(framer.feed(bytes.subarray(0, 7))).toBeUndefined();
    expect(framer.feed(bytes.subarray(7, 12))?.toString()).toBe("data: ü\n\n");
    expect(framer.feed(bytes.subarray(12))?.toString()).toBe("data: b\n\n");
    expect(framer.rest()).toBeUndefined();
  });

  it("gives the same blocks whatever the line ends and chunk boundaries are", () => {
    fc.assert(
      fc.property(
        fc.array(block, { minLength: 1, maxLength: 6 }),
        lineEnd,
        fc.boolean(),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 }),
        (blocks, eol, hasMark, sizes) => {
          const text = blocks.map((lines) => `${lines.join(eol)}${eol}${eol}`).join("");
          const bytes = Buffer.from((hasMark ? "\uFEFF" : "") + text);
          const expected = blocks.map((lines) => `${lines.join("\n")}\n\n`).join("");
          expect(frame([bytes])).toBe(expected);
          expect(frame(cut(bytes, sizes))).toBe(expected);
          expect(frame(cut(bytes, [1]))).toBe(expected);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("closes a last block that lacks its blank line", () => {
    expect(frame([Buffer.from("data: a\n\ndata: b")])).toBe("data: a\n\ndata: b\n\n");
    expect(frame([Buffer.from("data: b\r\n")])).toBe("data: b\n\n");
  });

  it("keeps bytes that only begin like a byte order mark", () => {
    expect(createBlockFramer({ maxBytes: LIMIT }).feed(Buffer.from([0xef, 0xbb]))).toBeUndefined();
    const framer = createBlockFramer({ maxBytes: LIMIT });
    framer.feed(Buffer.from([0xef]));
    expect(framer.feed(Buffer.from("a\n\n"))).toEqual(Buffer.concat([Buffer.from([0xef]), Buffer.from("a\n\n")]));
  });

  it("refuses a block beyond the limit and accepts one of several megabytes", () => {
    const framer = createBlockFramer({ maxBytes: 100 });
    expect(() => framer.feed(Buffer.alloc(101, 97))).toThrow(BlockTooLargeError);
    const large = Buffer.from(`data: ${"x".repeat(5 * 1024 * 1024)}\n\n`);
    expect(frame(cut(large, [65_536])).length).toBe(large.length);
  });

  it("never throws or hangs on arbitrary bytes", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 10 }), (chunks) => {
        parseBlocks(Buffer.from(frame(chunks.map((chunk) => Buffer.from(chunk)))));
      }),
    );
  });
});

describe("parseBlocks", () => {
  it("reads event, id, data with and without a space, and joins data lines", () => {
    const blocks = Buffer.from("event: a\nid: 1\ndata:one\ndata: two\n\n: comment\n\nretry: 5\n\ndata\n\n");
    expect(parseBlocks(blocks)).toEqual([
      { event: "a", id: "1", data: "one\ntwo" },
      { event: undefined, id: undefined, data: "" },
    ]);
  });

  it("reads back what encodeBlock wrote", () => {
    const blocks = Buffer.from(encodeBlock("{}", "x") + encodeBlock("[DONE]"));
    expect(splitBlocks(blocks).map(String)).toEqual(["event: x\ndata: {}\n\n", "data: [DONE]\n\n"]);
    expect(parseBlocks(blocks).map(({ data }) => data)).toEqual(["{}", "[DONE]"]);
  });
});

describe("parseEvents", () => {
  it("parses JSON objects and keeps everything else as text", () => {
    const events = parseEvents(Buffer.from('event: x\ndata: {"a":1}\n\ndata: [DONE]\n\ndata: {broken\n\n'));
    expect(events).toEqual([
      { event: "x", data: { a: 1 }, raw: '{"a":1}' },
      { event: undefined, data: undefined, raw: "[DONE]" },
      { event: undefined, data: undefined, raw: "{broken" },
    ]);
  });
});
