import { expect, test } from "vitest";
import { diffMembers } from "./changes.ts";

test("pairs each change with the value before", () => {
  expect(diffMembers('{"name":"a","gone":1}', '{"name":"b","models":["x"]}')).toEqual({
    rows: [
      { name: "name", before: "a", after: "b" },
      { name: "models", before: undefined, after: '[\n "x"\n]' },
      { name: "gone", before: "1", after: undefined },
    ],
    isUnfinished: false,
  });
});

test("a call without an end shows what it sent", () => {
  expect(diffMembers(null, '{"unfinished":{"id":7}}')).toEqual({
    rows: [{ name: "id", before: undefined, after: "7" }],
    isUnfinished: true,
  });
});

test("whatever is no object is shown as it is", () => {
  expect(diffMembers(null, "[1]").rows).toEqual([{ name: "", before: undefined, after: "[\n 1\n]" }]);
  expect(diffMembers("no json", null).rows).toEqual([{ name: "", before: "no json", after: undefined }]);
  expect(diffMembers(null, null).rows).toEqual([]);
});
