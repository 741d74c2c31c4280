import { describe, expect, it } from "vitest";
import { mergeCalls } from "./merge-calls.ts";
import { script } from "./script.ts";

const SUM = script("return {}");
const item = (group: string, ...args: number[]) => ({
  script: SUM,
  keys: [`{a}${group}`],
  args: ["common"],
  item: { group, args },
});
const ping = { command: "ping", args: [] };

describe("calls of one write", () => {
  it("are sent as they are where none takes items", () => {
    const merged = mergeCalls([ping, { script: SUM, keys: [], args: [1] }]);
    expect(merged.calls).toEqual([ping, { script: SUM, keys: [], args: [1] }]);
    expect(merged.scatter(["PONG", [1, 2]])).toEqual(["PONG", [1, 2]]);
  });

  it("of one group become one, at the place of its first, and each gets its own answer", () => {
    const merged = mergeCalls([item("x", 1, 2), ping, item("y", 3), item("x", 4, 5)]);
    expect(merged.calls).toEqual([
      { script: SUM, keys: ["{a}x"], args: ["common", 1, 2, 4, 5] },
      ping,
      { script: SUM, keys: ["{a}y"], args: ["common", 3] },
    ]);
    expect(merged.scatter([["x1", ["x2"]], "PONG", ["y1"]])).toEqual(["x1", "PONG", "y1", ["x2"]]);
  });

  it("fail together where the whole group failed", () => {
    const error = new Error("WRONGTYPE");
    const merged = mergeCalls([item("x", 1), item("x", 2), item("y", 3)]);
    expect(merged.scatter([error, [0]])).toEqual([error, error, 0]);
  });
});
