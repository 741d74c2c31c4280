// The manual page, as displayed by man(1).
import { execFileSync, spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { run } from "./terminal.ts";
import tree from "./tree.json" with { type: "json" };

test("the manual page names every command, and man reads it without a complaint", async () => {
  const { code, out, err } = await run(["man"], {});
  expect(code, err).toBe(0);
  const plain = out.replaceAll("\\-", "-");
  expect(Object.keys(tree.commands).filter((command) => !plain.includes(`.SS fairway ${command}`))).toEqual([]);
  const read = spawnSync("man", ["--warnings", "-l", "-"], {
    input: out,
    encoding: "utf8",
    env: { ...process.env, MANWIDTH: "80" },
  });
  expect(read.stderr).toBe("");
  expect(read.stdout).toContain("fairway channel list");
  expect(execFileSync("man", ["-l", "-"], { input: out, encoding: "utf8" })).toContain("EXIT STATUS");
});
