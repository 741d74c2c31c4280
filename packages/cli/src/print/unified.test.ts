import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { unifiedHunks } from "./unified.ts";

const folder = mkdtempSync(join(tmpdir(), "fairway-unified-"));
afterAll(() => rmSync(folder, { recursive: true }));

it("writes hunks with three lines around, and joins those that touch", () => {
  const before = "abcdefghijklmnopqrst".split("").join("\n");
  const after = before.replace("e", "E").replace("l", "L").replace("t", "t\nu");
  const first = "@@ -2,14 +2,14 @@; b; c; d;-e;+E; f; g; h; i; j; k;-l;+L; m; n; o";
  const second = "@@ -18,3 +18,4 @@; r; s; t;+u";
  expect(unifiedHunks(before, after).join(";")).toBe(`${first};${second}`);
  expect(unifiedHunks("", "a\nb\n")).toEqual(["@@ -0,0 +1,2 @@", "+a", "+b"]);
  expect(unifiedHunks("a\nb\n", "")).toEqual(["@@ -1,2 +0,0 @@", "-a", "-b"]);
  expect(unifiedHunks("a\n", "a")).toEqual([]);
});

it("is a patch that git applies", () => {
  let seed = 7;
  const random = (below: number) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
  for (let round = 0; round < 30; round += 1) {
    const lines = Array.from({ length: 1 + random(60) }, () => `line ${random(9)}`);
    const changed = lines.flatMap((line) => [[line], [line], [line], [], [line, `new ${random(5)}`]][random(5)] ?? []);
    const [before, after] = [lines, changed].map((all) => all.map((line) => `${line}\n`).join(""));
    const file = join(folder, "file");
    writeFileSync(file, before ?? "");
    const hunks = unifiedHunks(before ?? "", after ?? "");
    if (hunks.length === 0) continue;
    const patch = ["--- a/file", "+++ b/file", ...hunks, ""].join("\n");
    execFileSync("git", ["apply", "-"], { cwd: folder, input: patch });
    expect(readFileSync(file, "utf8")).toBe(after);
  }
});
