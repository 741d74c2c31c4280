import { describe, expect, it, test } from "vitest";
import { findFallbacks, formatTokenFallbacks, readFallbackTable, type FallbackTable } from "./fallbacks.ts";

function read(value: unknown): FallbackTable {
  const found = readFallbackTable(value);
  if ("fault" in found) throw new Error(found.fault);
  return found.value;
}

test("a name alone falls back on errors, and causes have one order", () => {
  expect(read({ a: ["b", { model: "c", on: ["content", "error"] }] })).toEqual({
    a: [
      { model: "b", on: ["error"] },
      { model: "c", on: ["error", "content"] },
    ],
  });
});

test("a time of 0 seconds is none, and other times stay in the text of a token", () => {
  const list = [
    { model: "b", sticky_seconds: 0 },
    { model: "c", sticky_seconds: 300 },
  ];
  const { a } = read({ a: list });
  expect(formatTokenFallbacks(a ?? [])).toBe('["b",{"model":"c","on":["error"],"sticky_seconds":300}]');
});

test("the exact name goes before the longest prefix, and that before all others", () => {
  const table = read({ "*": ["x"], "claude-*": ["y"], "claude-opus-*": ["z"], "claude-opus-5": ["own"] });
  const found = (model: string) => findFallbacks(table, model)?.[0]?.model;
  expect(["claude-opus-5", "claude-opus-4", "claude-3", "gpt-5.6"].map(found)).toEqual(["own", "z", "y", "x"]);
  expect(findFallbacks(read({ a: ["b"] }), "constructor")).toBeUndefined();
});

describe("a list is refused", () => {
  it.each([
    ["itself", { a: ["a"] }, "names a itself"],
    ["a model twice", { a: ["b", { model: "b" }] }, "names b twice"],
    ["six models", { a: ["b", "c", "d", "e", "f", "g"] }, "more than 5"],
    ["an unknown cause", { a: [{ model: "b", on: ["timeout"] }] }, "error, context, content, budget, limit"],
    ["no cause", { a: [{ model: "b", on: [] }] }, "causes for b"],
    ["an unknown member", { a: [{ model: "b", after: 3 }] }, "unknown member after"],
    ["a pattern as a model", { a: ["b*"] }, "without the name of one model"],
    ["a star inside a name", { "a*b": ["c"] }, "* may stand only at its end"],
    ["a time that is none", { a: [{ model: "b", sticky_seconds: 1.5 }] }, "no whole number"],
    ["a time that is too long", { a: [{ model: "b", sticky_seconds: 604_801 }] }, "no whole number"],
    ["no list", { a: "b" }, "must be a list"],
  ])("that names %s", (_what, value, fault) => {
    expect(readFallbackTable(value)).toMatchObject({ fault: expect.stringContaining(fault) as string });
  });
});
