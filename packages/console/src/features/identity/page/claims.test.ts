import { expect, test } from "vitest";
import { parseClaims } from "./claims.ts";

test.each([
  ["", {}],
  ['{"groups": ["a"]}', { groups: ["a"] }],
  ['  {"sub": "1"}\n', { sub: "1" }],
  [`e30.${Buffer.from('{"name": "Zoë 林"}').toString("base64url")}.c2ln`, { name: "Zoë 林" }],
  ["[1]", undefined],
  ["null", undefined],
  ["{", undefined],
  ["a.b.c", undefined],
  ["groups: a", undefined],
])("claims are JSON or a token: %s", (text, claims) => {
  expect(parseClaims(text)).toEqual(claims);
});
