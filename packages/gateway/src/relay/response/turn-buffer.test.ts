import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { TurnBuffer } from "./turn-buffer.ts";

function collecting() {
  const taken: string[] = [];
  return { taken, buffer: new TurnBuffer((bytes) => void taken.push(bytes.toString())) };
}

describe("bytes of one turn", () => {
  it("are passed on together, in order, before the next turn", async () => {
    const { taken, buffer } = collecting();
    for (const part of ["a", "b", "c"]) buffer.add(Buffer.from(part));
    expect(taken).toEqual([]);
    await turn();
    buffer.add(Buffer.from("d"));
    await turn();
    expect(taken).toEqual(["abc", "d"]);
  });

  it("are passed on once when they are flushed", async () => {
    const { taken, buffer } = collecting();
    buffer.add(Buffer.from("a"));
    buffer.flush();
    buffer.flush();
    buffer.add(Buffer.from("b"));
    await turn();
    expect(taken).toEqual(["a", "b"]);
  });

  it("do not pile up", () => {
    const { taken, buffer } = collecting();
    const part = Buffer.alloc(16 * 1024, "x");
    for (let at = 0; at < 5; at += 1) buffer.add(part);
    expect(taken.map(({ length }) => length)).toEqual([5 * part.length]);
  });

  it("stay the very same buffer where there is one", () => {
    const given = Buffer.from("a");
    let got: Buffer | undefined;
    const buffer = new TurnBuffer((bytes) => (got = bytes));
    buffer.add(given);
    buffer.flush();
    expect(got).toBe(given);
  });
});
