import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Io } from "../core/io.ts";
import { CliError, EXIT } from "../core/exit.ts";
import { toExitCode, findHint, formatErrorMessage } from "../core/problem.ts";

/**
 * Lets a person change a text in their editor and passes the result to `save`. If it cannot be saved, it stays in its
 * file, so that nothing has to be typed twice.
 */
export async function editText(
  { text, fileName }: { readonly text: string; readonly fileName: string },
  save: (changed: string) => Promise<void>,
  { env, isTerminal, note }: Io,
): Promise<void> {
  if (!isTerminal) throw new CliError("an editor needs a terminal", EXIT.usage, "use `update` or `set` in scripts");
  const folder = mkdtempSync(join(tmpdir(), "fairway-edit-"));
  const file = join(folder, fileName);
  writeFileSync(file, text, { mode: 0o600 });
  await runEditor(env["VISUAL"] || env["EDITOR"] || "vi", file);
  const changed = readFileSync(file, "utf8");
  if (changed === text) note("Nothing was changed.");
  else await save(changed).catch((error: unknown) => fail(error, file));
  rmSync(folder, { recursive: true });
}

function fail(error: unknown, file: string): never {
  const hint = findHint(error);
  throw new CliError(`${formatErrorMessage(error)}; your text is in ${file}`, toExitCode(error), hint);
}

async function runEditor(editor: string, file: string): Promise<void> {
  const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit" });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new CliError(`${editor} ended with ${code ?? "a signal"}`, EXIT.failure, "set EDITOR");
}
