import { expect, test } from "vitest";
import { parsePage, readState, safeReturnPath, writeState } from "./url-state.ts";

const defaults = { p: "", type: "0" };

test("absent members read as their defaults", () => {
  expect(readState(new URLSearchParams("p=2&x=1"), defaults)).toEqual({ p: "2", type: "0" });
});

test("defaults leave the address, other members of the query stay", () => {
  const written = writeState(new URLSearchParams("x=1&type=2&p=3"), defaults, { type: "0", p: "4" });
  expect(written.toString()).toBe("x=1&p=4");
});

test("bad page numbers are the first page", () => {
  expect(["", "0", "-1", "1.5", "abc", "7"].map(parsePage)).toEqual([1, 1, 1, 1, 1, 7]);
});

test("only paths of this console are returned to", () => {
  expect(safeReturnPath("/log?p=2", "/token")).toBe("/log?p=2");
  const others = [
    "//evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "/\n\\evil.example",
    "/log/..//evil.example",
    "/.//evil.example",
    "https://evil.example",
    "/\t//[",
    "log",
    null,
  ];
  expect(others.map((path) => safeReturnPath(path, "/token"))).toEqual(others.map(() => "/token"));
});
