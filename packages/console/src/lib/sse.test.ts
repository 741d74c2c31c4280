import { expect, test } from "vitest";
import { createEventReader } from "./sse.ts";

const STREAM = ': hello\r\n\r\ndata: {"a":1}\r\n\r\nevent: x\r\ndata:two\r\ndata: lines\r\n\r\ndata: [DONE]\r\n\r\n';

test("reads events wherever the pieces end", () => {
  for (const size of [1, 2, 3, 7, STREAM.length]) {
    const read = createEventReader();
    const events: string[] = [];
    for (let at = 0; at < STREAM.length; at += size) events.push(...read(STREAM.slice(at, at + size)));
    expect(events, `pieces of ${size}`).toEqual(['{"a":1}', "two\nlines", "[DONE]"]);
  }
});

test("does not read an event without its end", () => {
  expect(createEventReader()("data: half")).toEqual([]);
});
