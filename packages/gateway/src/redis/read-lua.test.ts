import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readLua } from "./read-lua.ts";

const SRC = join(import.meta.dirname, "..");
const FILES = globSync("**/*.lua", { cwd: SRC });

it("puts an included file in the place of its line, once", () => {
  const text = readLua(import.meta.url, "../billing/ledger/redis/lua/reap.lua");
  expect(text.match(/local function clock\(/g)).toHaveLength(1);
  expect(text.indexOf("local function clock(")).toBeLessThan(text.indexOf("clock(nowGiven)"));
  expect(text).not.toMatch(/^-- include/m);
});

it("refuses a script that includes a file which does not exist", () => {
  expect(() => readLua(import.meta.url, "./lua/nothing.lua")).toThrow("ENOENT");
});

it.each(FILES)("%s begins with a comment and names its fixed keys and arguments at its head", (file) => {
  const text = readFileSync(join(SRC, file), "utf8");
  expect(text).toMatch(/^-- /);
  const body = text.replaceAll(/^local \w+ = (?:KEYS|ARGV)\[\d+\]$/gm, "");
  expect(body).not.toMatch(/\b(?:KEYS|ARGV)\[\d+\]/);
});
