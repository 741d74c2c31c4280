import { describe, expect, it } from "vitest";
import { valuesAt } from "./json-path.ts";

const list = {
  kind: "ChannelList",
  items: [
    { id: 1, name: "openai", status: 1, limits: { "a.b": 5 } },
    { id: 2, name: "azure", status: 3, models: ["x", "y"] },
  ],
};

describe("valuesAt", () => {
  it.each([
    [".items[*].id", [1, 2]],
    ["$.items[0].name", ["openai"]],
    ["items[-1].models[1]", ["y"]],
    [".items[0].limits['a.b']", [5]],
    ["..name", ["openai", "azure"]],
    [".items[?(@.status==1)].name", ["openai"]],
    [".items[?(@.status!=1)].id", [2]],
    ['.items[?(@.name=="azure")].id', [2]],
    [".items[?(@.status>=3)].id", [2]],
    [".items[?(@.models)].id", [2]],
    [".items[*].nothing", []],
    [".", [list]],
  ])("finds %s", (path, expected) => expect(valuesAt(list, path)).toEqual(expected));

  it.each([".items[", ".items[?(1)]", ".a b"])("refuses %j and shows how paths are written", (path) =>
    expect(() => valuesAt(list, path)).toThrow("is not part of a path"),
  );

  it("does not reach what an object inherits", () => expect(valuesAt({}, ".constructor")).toEqual([]));
});
