import { expect, test } from "vitest";
import * as z from "zod/mini";
import { queryInts, queryTexts, queryTristate, splitList } from "./lists.ts";

const Query = z.object({ models: queryTexts, status: queryInts, is_stream: queryTristate });

test("lists of a query may be comma-joined or repeated", () => {
  expect(Query.parse({ models: " a, b,,a ", status: "1,x,2.5,3" })).toEqual({
    models: ["a", "b"],
    status: [1, 3],
    is_stream: undefined,
  });
  expect(Query.parse({ models: ["a", "b,c"], status: [1, 2] })).toEqual({
    models: ["a", "b", "c"],
    status: [1, 2],
    is_stream: undefined,
  });
  expect(Query.parse({})).toEqual({ models: [], status: [], is_stream: undefined });
});

test("a switch of three positions is undefined unless it is spelled out", () => {
  const positions = ["true", "1", "f", "FALSE", "", "maybe"].map((text) => Query.parse({ is_stream: text }).is_stream);
  expect(positions).toEqual([true, true, false, false, undefined, undefined]);
});

test("parts of a list keep their order and lose blanks and repeats", () => {
  expect(splitList("b, a ,b,,  ,ä")).toEqual(["b", "a", "ä"]);
});
