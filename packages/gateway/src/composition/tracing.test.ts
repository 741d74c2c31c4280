import { expect, test } from "vitest";
import { Secret } from "../lib/secret.ts";
import { headersIn } from "./tracing.ts";

test("headers for a collector are pairs with values in percent-encoding", () => {
  expect(headersIn("NAME", new Secret("authorization=Basic%20a%3Db, x-tenant = lin"))).toEqual({
    authorization: "Basic a=b",
    "x-tenant": "lin",
  });
  expect(headersIn("NAME", undefined)).toEqual({});
});

test.each([
  ["no pair", "authorization", "NAME: give name=value pairs separated by commas"],
  ["no name", "=Bearer token", "NAME: give name=value pairs separated by commas"],
  ["a value that cannot be decoded", "a=50%", "NAME: give values in percent-encoding, where a % is %25"],
])("%s ends the start with the variable and the cure", (_what, text, message) => {
  expect(() => headersIn("NAME", new Secret(text))).toThrow(
    expect.objectContaining({ name: "StartError", message }) as Error,
  );
});
