import { expect, test } from "vitest";
import { assignColours, ERROR_COLOUR } from "./colours.ts";

const readHue = (colour: string | undefined) => colour?.split(" ")[0];

test("a name has the same hue next to any other names", () => {
  const alone = assignColours(["gpt-4o"]).get("gpt-4o");
  const many = Array.from({ length: 12 }, (_, index) => `model-${index}`);
  expect(readHue(assignColours(["gpt-4o", ...many]).get("gpt-4o"))).toBe(readHue(alone));
});

test("the order of the names changes no colour", () => {
  const names = ["gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro", "o3", "qwen-max", "glm-4", "kimi-k2"];
  expect(assignColours(names)).toEqual(assignColours(names.toReversed()));
});

test("up to eighteen names have different colours, and none has the colour of errors", () => {
  const names = Array.from({ length: 18 }, (_, index) => `model-${index}`);
  const colours = new Set(assignColours(names).values());
  expect(colours.size).toBe(18);
  expect(colours.has(ERROR_COLOUR)).toBe(false);
  expect(assignColours([...names, "one-more"]).size).toBe(19);
});
