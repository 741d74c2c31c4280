import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { isTooOld, OLDEST_NODE, VERSION } from "./version.ts";

it("is the version of the package", () => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  expect(VERSION).toBe(version);
});

it.each([
  ["20.20.2", true],
  ["22.18.9", true],
  [OLDEST_NODE, false],
  ["22.20.0", false],
  ["24.0.0", false],
  ["26.9.0", false],
])("knows whether Node.js %s is too old", (version, expected) => {
  expect(isTooOld(version)).toBe(expected);
});
