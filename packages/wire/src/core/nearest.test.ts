import { expect, it } from "vitest";
import { nearest } from "./nearest.ts";

it.each([
  ["prioritty", ["name", "priority", "weight"], "priority"],
  ["Modles", ["models", "modelMapping"], "models"],
  ["opneai", ["azure", "openai"], "openai"],
  ["xyz", ["name", "priority"], undefined],
  ["", [], undefined],
])("finds the word next to %j in %j", (word, known, expected) => expect(nearest(word, known)).toBe(expected));
