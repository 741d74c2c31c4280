import { expect, it } from "vitest";
import { jsonBody } from "../body/read-body.ts";
import { checkNestedJson } from "./nested-json.ts";

const calls = (written: string, count: number) =>
  jsonBody(
    Buffer.from(
      JSON.stringify({
        messages: Array.from({ length: count }, () => ({
          role: "assistant",
          tool_calls: [{ type: "function", function: { name: "f", arguments: written } }],
        })),
      }),
    ),
  );

// @weakness Exhaustion: The arguments of many tool calls hold millions of values in their texts
it("refuses texts of JSON that together hold too many values", () => {
  const empty = `[${"{},".repeat(3_000)}0]`;
  expect(() => checkNestedJson(calls(empty, 20))).not.toThrow();
  expect(() => checkNestedJson(calls(empty, 60))).toThrow(expect.objectContaining({ code: "too_many_values" }));
  expect(() => checkNestedJson(calls("{} is no JSON, and text ".repeat(200), 100))).not.toThrow();
});
