import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { bannedWords, CHECKED, findings } from "./banned-words.ts";
import { ROOT } from "./bootstrap.mjs";

describe("bannedWords", () => {
  test.each([
    ["// Rows stand beside the balance.", "beside"],
    ["const isTold = true;", "Told"],
    ['test("nobody waits", () => {});', "nobody"],
    ["The stream goes on.", "goes on"],
    ["Consoles of the family save it.", "the family"],
    ["const lines = keptLines;", "kept"],
    ['test("returns the shortest wait (R-RETRY-6)", () => {});', "R-RETRY-6"],
  ])("finds the word in %j", (text, word) => {
    expect(bannedWords(text)).toEqual([expect.objectContaining({ line: 1, word })]);
  });

  test.each([
    "Besides, connections are kept alive.",
    "It looks like JSON and stands for a name.",
    "Names ending in .md, with Unix line endings.",
    "She behaves, and an understanding is reached.",
  ])("accepts %j", (text) => {
    expect(bannedWords(text)).toEqual([]);
  });
});

test("names the line of a planted word and what to write", () => {
  const folder = mkdtempSync(join(ROOT, "node_modules/.cache/banned-"));
  writeFileSync(join(folder, "page.md"), "# Page\n\nIt is written anew.\n");
  const path = relative(ROOT, join(folder, "page.md"));
  expect(findings([path], [])).toEqual([`${path}:3: "anew": write again`]);
  rmSync(folder, { recursive: true });
});

/** Folders that are not in the repository. */
const MADE = ["node_modules", "dist", "coverage"];

test("every top folder is checked", () => {
  const folders = readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && !MADE.includes(entry.name))
    .map(({ name }) => name);
  expect(folders.filter((name) => !CHECKED.includes(name))).toEqual([]);
});

test("no text has a banned word", { timeout: 60_000 }, () => {
  expect(findings(CHECKED)).toEqual([]);
});
