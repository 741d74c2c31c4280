import { expect, test } from "vitest";
import { characters, textUpTo } from "./characters.ts";

test("a text is as long as its code points", () => {
  expect(["", "abc", "😀😀", "é"].map(characters)).toEqual([0, 3, 2, 1]);
});

test("a limit counts code points and names itself", () => {
  const limit = textUpTo(2);
  expect(limit.safeParse("😀😀").success).toBe(true);
  expect(limit.safeParse("😀😀😀").error?.issues[0]).toMatchObject({ code: "too_big", origin: "string", maximum: 2 });
});
