import { expect, test } from "vitest";
import { keysIn } from "./keys.ts";

test("a line end inside pasted text is the key enter, once", () => {
  expect(keysIn("ab\r", {})).toEqual(["a", "b", "enter"]);
  expect(keysIn("a\r\nb\n", {})).toEqual(["a", "enter", "b", "enter"]);
});

test("a correction typed fast arrives as its key", () => {
  expect(keysIn("ab\u007Fc", {})).toEqual(["a", "b", "backspace", "c"]);
  expect(keysIn("", { return: true })).toEqual(["enter"]);
  expect(keysIn("[5~", { pageUp: true })).toEqual(["pageup"]);
});

test("control letters and the two directions of tab have names", () => {
  expect(keysIn("e", { ctrl: true })).toEqual(["ctrl-e"]);
  expect(keysIn("", { tab: true })).toEqual(["tab"]);
  expect(keysIn("", { tab: true, shift: true })).toEqual(["backtab"]);
});
