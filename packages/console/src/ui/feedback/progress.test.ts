import { expect, test } from "vitest";
import { parsePercent } from "./progress.tsx";

test("progress is read with and without its sign, and other texts are none", () => {
  expect(["45%", "100", " 7.5 % ", "300%"].map(parsePercent)).toEqual([45, 100, 7.5, 100]);
  expect(["", "done", "-1%", "1e3"].map(parsePercent)).toEqual([undefined, undefined, undefined, undefined]);
});
