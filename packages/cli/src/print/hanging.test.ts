import { expect, test } from "vitest";
import { hanging } from "./hanging.ts";

test.each([
  ["a short text stays on its line", "one two", 40, "name  one two"],
  ["a pipe has no width", "word ".repeat(30).trim(), undefined, `name  ${"word ".repeat(30).trim()}`],
  [
    "a long text continues below its beginning",
    "word ".repeat(10).trim(),
    36,
    "name  word word word word word word\n      word word word word",
  ],
  [
    "a word without a blank is not broken",
    `at ${"x".repeat(40)} end`,
    36,
    `name  at\n      ${"x".repeat(40)}\n      end`,
  ],
])("%s", (_, text, width, expected) => {
  expect(hanging("name  ", text, width)).toBe(expected);
});
