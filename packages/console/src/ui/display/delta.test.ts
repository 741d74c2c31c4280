import { expect, test } from "vitest";
import { judgeChange } from "./delta.tsx";

test("more errors are bad and fewer are good; more requests are neither", () => {
  expect(judgeChange(0.2, "bad")).toBe("bad");
  expect(judgeChange(-0.2, "bad")).toBe("good");
  expect(judgeChange(0.2, "good")).toBe("good");
  expect(judgeChange(0, "bad")).toBe("plain");
  expect(judgeChange(9, "plain")).toBe("plain");
});
