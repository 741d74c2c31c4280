import { expect, it } from "vitest";
import { nameKey } from "./name-key.ts";

it.each([
  ["Root", "root"],
  ["ｒｏｏｔ", "root"],
  ["ＲＯＯＴ", "root"],
  ["𝐫𝐨𝐨𝐭", "root"],
  ["ⓡⓞⓞⓣ", "root"],
  ["ro\u00ADot", "root"],
  ["ro\u200Dot", "root"],
  ["ﬁona", "FIONA"],
  ["Straße", "STRASSE"],
  ["ſam", "sam"],
  ["ΣΑΣ", "σας"],
  ["é", "e\u0301"],
  ["Ⅸ", "ix"],
  ["\u212Aelvin", "kelvin"],
])("%s and %s are one name", (one, other) => {
  expect(nameKey(one)).toBe(nameKey(other));
  expect(nameKey(nameKey(one))).toBe(nameKey(one));
});

it.each([
  ["root", "r00t"],
  ["ann", "anna"],
  ["李", "季"],
])("%s and %s are two", (one, other) => {
  expect(nameKey(one)).not.toBe(nameKey(other));
});
