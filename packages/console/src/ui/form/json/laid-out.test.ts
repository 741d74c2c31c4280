import { expect, test } from "vitest";
import { laidOut } from "./laid-out.ts";

test("each member has its line, and numbers keep their digits", () => {
  expect(laidOut('{"a":1.25000000000000000001,"b":[1,{"c":"{x,y}"}],"d":{},"e":[ ]}')).toBe(`{
  "a": 1.25000000000000000001,
  "b": [
    1,
    {
      "c": "{x,y}"
    }
  ],
  "d": {},
  "e": []
}`);
});

test("the same text comes out again, and what is no JSON is left alone", () => {
  const tidy = laidOut('{"a":[true,null]}') ?? "";
  expect(laidOut(tidy)).toBe(tidy);
  expect(JSON.parse(tidy)).toEqual({ a: [true, null] });
  expect(laidOut("{a")).toBeUndefined();
  expect(laidOut(`"${"x".repeat(300_000)}"`)).toBeUndefined();
});
