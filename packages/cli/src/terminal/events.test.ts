import { expect, it } from "vitest";
import { readEvents, readLines } from "./events.ts";

/** Splits the bytes of a text into pieces, even within a line or a letter. */
async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.slice(at, at + size));
}

it.each([1, 2, 7, 1000])("reads events from pieces of %d bytes, signs of life included", async (size) => {
  const text =
    ': open\n\nevent: row\ndata: {"content":"naïve 日本"}\n\nevent: dropped\ndata: {"count":3}\n\nevent: row\ndata: {"cut';
  expect(await Array.fromAsync(readEvents(pieces(text, size)))).toEqual([
    { name: "", data: "" },
    { name: "row", data: '{"content":"naïve 日本"}' },
    { name: "dropped", data: '{"count":3}' },
  ]);
});

it("leaves out a line that was cut off", async () => {
  expect(await Array.fromAsync(readLines(pieces("one\ntwo\nthr", 2)))).toEqual(["one", "two"]);
});
