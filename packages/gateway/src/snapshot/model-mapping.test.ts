import { describe, expect, it } from "vitest";
import { mapModel } from "./model-mapping.ts";

describe("mapModel", () => {
  it.each([
    [{}, "a", "a"],
    [{ a: "a" }, "a", "a"],
    [{ a: "b" }, "a", "b"],
    [{ a: "b", b: "b" }, "a", "b"],
    [{ a: "b", b: "c" }, "a", "c"],
    [{ a: "b" }, "x", "x"],
  ])("%j maps %s to %s", (mapping, model, expected) => {
    expect(mapModel(new Map(Object.entries(mapping)), model)).toBe(expected);
  });

  it("refuses a cycle and a chain of more than ten steps", () => {
    expect(() =>
      mapModel(
        new Map([
          ["a", "b"],
          ["b", "a"],
        ]),
        "a",
      ),
    ).toThrow(expect.objectContaining({ code: "model_mapping_cycle" }));
    const long = new Map(Array.from({ length: 11 }, (_, i) => [`m${i}`, `m${i + 1}`]));
    expect(() => mapModel(long, "m0")).toThrow(expect.objectContaining({ code: "model_mapping_cycle" }));
  });
});
