// Every command of the tree is run by a test.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { VERSION } from "../src/core/version.ts";
import { createProgram } from "../src/program.ts";

type Command = ReturnType<typeof createProgram>;

const ROOT = join(import.meta.dirname, "..");
const nothing = () => undefined;
const io = { env: {}, width: undefined, isTerminal: false, nowSeconds: () => 0 };
const program = createProgram(VERSION, {
  ...io,
  useUtc: nothing,
  write: nothing,
  out: nothing,
  room: nothing,
  note: nothing,
});

/** `channel list` and the like, with every name of its noun. */
function leaves(command: Command, words: readonly string[] = []): string[][] {
  const inner = command.commands.filter((one) => !["help", "__complete", "kube"].includes(one.name()));
  if (inner.length === 0) return words.length === 0 ? [] : [[...words]];
  return inner.flatMap((one) => leaves(one, [...words, one.name()]));
}

/** What tests write as a line or as a list of words. */
function testText(): string {
  const files = globSync(["test/*.test.ts", "src/**/*.test.ts"], { cwd: ROOT }).filter(
    (file) => !file.endsWith("tree.test.ts"),
  );
  return files.map((file) => readFileSync(join(ROOT, file), "utf8").replaceAll(/",\s*"/g, " ")).join("\n");
}

test("every command has a test that runs it", () => {
  const text = testText();
  const untested = leaves(program)
    .map((words) => words.join(" "))
    .filter((path) => !new RegExp(`["'\`|] ?(-\\S+ \\S+ )*${path}(?=["'\` ])`).test(text));
  expect(untested).toEqual([]);
});
