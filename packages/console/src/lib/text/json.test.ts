import { expect, test } from "vitest";
import { parseJson, parseObject } from "./json.ts";

test("what is no JSON is undefined, and null is a value", () => {
  expect(parseJson('{"a":1}')).toEqual({ a: 1 });
  expect(parseJson("null")).toBeNull();
  expect(parseJson("")).toBeUndefined();
  expect(parseJson("{a:1}")).toBeUndefined();
});

test("only objects are objects", () => {
  expect(parseObject('{"a":1}')).toEqual({ a: 1 });
  for (const text of ["null", "[1]", '"a"', "1", "", "{"]) expect(parseObject(text)).toBeUndefined();
});
