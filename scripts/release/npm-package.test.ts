// The manual page and the completions that the npm package carries, as the built command prints them.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import tree from "../../packages/cli/test/tree.json" with { type: "json" };
import { SHELL_FILES, writeShellFiles } from "./npm-package.ts";

const folder = mkdtempSync(join(tmpdir(), "fairway-shell-files-"));
const read = (path: string) => readFileSync(join(folder, path), "utf8");

beforeAll(() => writeShellFiles(folder));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the manual page of the package names every command", () => {
  const manual = read("man/fairway.1").replaceAll("\\-", "-");
  expect(Object.keys(tree.commands).filter((command) => !manual.includes(`.SS fairway ${command}`))).toEqual([]);
});

test("each shell has a script that asks the program", () => {
  const scripts = Object.keys(SHELL_FILES).filter((path) => path.startsWith("completions/"));
  expect(scripts).toHaveLength(4);
  for (const path of scripts) expect(read(path), path).toContain("fairway __complete -- ");
});

test("bash loads its script and registers it", () => {
  const script = `source '${join(folder, "completions/fairway.bash")}' && complete -p fairway`;
  const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", script], { encoding: "utf8" });
  expect({ stdout, stderr }).toEqual({ stdout: "complete -o default -F _fairway fairway\n", stderr: "" });
});
