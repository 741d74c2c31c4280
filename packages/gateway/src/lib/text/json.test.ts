import { describe, expect, it } from "vitest";
import { parseJson, parseObject } from "./json.ts";

describe("JSON from elsewhere", () => {
  it("is parsed, and undefined where it is broken", () => {
    expect(parseJson("[1,{}]")).toEqual([1, {}]);
    expect(parseJson("null")).toBeNull();
    expect(parseJson('{"a":')).toBeUndefined();
    expect(parseObject("[1]")).toBeUndefined();
    expect(parseObject(`{"a":"${"long ".repeat(100_000)}"}`)?.["a"]).toHaveLength(500_000);
  });

  // @weakness Exhaustion: An answer of an upstream or a webhook, or the arguments of a tool, hold millions of values
  it.each([
    ["nested lists", "[".repeat(100_000) + "]".repeat(100_000)],
    ["empty objects", `[${"{},".repeat(200_000)}0]`],
    ["members", `{${Array.from({ length: 200_000 }, (_, at) => `"${at}":0`).join(",")}}`],
  ])("is not parsed where it holds too many %s", (_, text) => {
    expect(parseJson(text)).toBeUndefined();
  });
});
