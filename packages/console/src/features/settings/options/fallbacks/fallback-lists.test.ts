import { expect, test } from "vitest";
import {
  findListFault,
  findModelFault,
  followCall,
  moveModel,
  parseLists,
  printLists,
  type EditedList,
} from "./fallback-lists.ts";

const TEXT = '{"a":["b",{"model":"c","on":["context","limit"]}],"gpt-*":["a"],"*":["b"]}';
const lists = parseLists("ModelFallbacks", TEXT) as readonly EditedList[];
const [first] = lists as [EditedList];

test("a text is its lists in order, and its lists are the text", () => {
  expect(lists.map(({ name }) => name)).toEqual(["a", "gpt-*", "*"]);
  expect(printLists("ModelFallbacks", lists)).toBe(TEXT);
  const groups = '{"vip":{"a":["b"]},"free":{"*":["c"]}}';
  expect(printLists("GroupModelFallbacks", parseLists("GroupModelFallbacks", groups) ?? [])).toBe(groups);
  expect(printLists("ModelFallbacks", [])).toBe("{}");
});

test("what is no table of lists is left to the JSON editor", () => {
  for (const text of ["[", "[]", '{"a":["a"]}', '{"a":["b","b"]}', '{"a":{"b":1}}'])
    expect(parseLists("ModelFallbacks", text), text).toBeUndefined();
});

test("a model moves to another place, and not beyond the ends", () => {
  const order = (list: EditedList) => list.models.map(({ model }) => model);
  expect(order(moveModel(first, 1, 0))).toEqual(["c", "b"]);
  expect(order(moveModel(first, 0, 7))).toEqual(["c", "b"]);
  expect(order(moveModel(first, 0, -1))).toEqual(["b", "c"]);
  expect(order(moveModel(first, 5, 0))).toEqual(["b", "c"]);
});

test("names that lead in a circle, stand twice or are too many are refused", () => {
  expect(findModelFault(first, "a")).toBe("self");
  expect(findModelFault(first, "b")).toBe("repeated");
  expect(findModelFault(first, "")).toBe("missing");
  expect(findModelFault(first, "gpt-*")).toBe("star");
  expect(findModelFault(first, "d")).toBeUndefined();
  const full = { ...first, models: ["1", "2", "3", "4", "5"].map((model) => ({ model, on: [], rest: {} })) };
  expect(findModelFault(full, "d")).toBe("full");
  expect(findListFault(lists, "", "a")).toBe("exists");
  expect(findListFault(lists, "vip", "a")).toBeUndefined();
  expect(findListFault(lists, "", "a*b")).toBe("star");
});

test("a call follows the list that fits best, and leaves out what cannot serve", () => {
  const known = new Map(["b", "c"].map((model) => [model, { price: null, is_served: model === "b" }] as const));
  expect(followCall(lists, { group: "", model: "a", cause: "error" }, known)).toEqual({
    list: "a",
    steps: [
      { model: "b", obstacle: "unpriced" },
      { model: "c", obstacle: "cause" },
    ],
  });
  expect(followCall(lists, { group: "", model: "gpt-5", cause: "error" }, known)).toEqual({
    list: "gpt-*",
    steps: [{ model: "a", obstacle: "unserved" }],
  });
  expect(followCall(lists, { group: "", model: "b", cause: "error" }, known).steps[0]?.obstacle).toBe("asked");
  expect(followCall(lists, { group: "vip", model: "a", cause: "error" }, known)).toEqual({
    list: undefined,
    steps: [],
  });
});
