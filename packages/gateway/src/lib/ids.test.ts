import { describe, expect, it } from "vitest";
import { createIds, randomText } from "./ids.ts";

describe("ids", () => {
  it("have 26 characters and sort by time", () => {
    let now = 1_700_000_000_000;
    const id = createIds({ now: () => now });
    const first = id();
    now += 1;
    const second = id();
    expect(first).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(first < second).toBe(true);
  });

  it("do not repeat within a millisecond", () => {
    const id = createIds({ now: () => 1 });
    expect(new Set(Array.from({ length: 5000 }, id)).size).toBe(5000);
  });
});

describe("random text", () => {
  it("uses the whole alphabet and nothing else", () => {
    const text = randomText(20_000);
    expect(text).toMatch(/^[0-9A-Za-z]{20000}$/);
    expect(new Set(text).size).toBe(62);
    expect(randomText(6, "ab")).toMatch(/^[ab]{6}$/);
  });
});
