import { CommanderError, type Command } from "commander";
import type { Io } from "./core/io.ts";
import { EXIT, Said } from "./core/exit.ts";
import { withPlainFlags, type Globals } from "./session/globals.ts";
import { VERSION } from "./core/version.ts";
import { printable } from "./print/printable.ts";
import { createProgram } from "./program.ts";
import { resolveDefaults } from "./session/defaults.ts";

/** Runs one command line, without the name of the program; returns the exit code and never throws. */
export async function runWords(words: readonly string[], io: Io): Promise<number> {
  let globals: Partial<Globals> = {};
  try {
    const program = createProgram(VERSION, io, resolveDefaults(io.env));
    throwOnExit(program);
    globals = program.opts<Globals>();
    await program.parseAsync(withPlainFlags(words), { from: "user" });
    return EXIT.ok;
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) return report(thrown, globals, io);
    return thrown.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
}

/** Throws instead of exiting, so that the output of every command is written before the process ends. */
function throwOnExit(command: Command): void {
  command.exitOverride();
  for (const inner of command.commands) throwOnExit(inner);
}

/** Prints one line with the remedy below it and no stack; returns the exit code. */
export async function report(thrown: unknown, globals: Partial<Globals>, { note }: Io): Promise<number> {
  const { readCodeName, toExitCode, findHint, isNotSent, formatErrorMessage } = await import("./core/problem.ts");
  if (isNotSent(thrown)) {
    if (!globals.quiet) note("Nothing was changed: --dry-run.");
    return EXIT.ok;
  }
  if (thrown instanceof Said) return thrown.code;
  const message = formatErrorMessage(thrown);
  const hint = findHint(thrown);
  const code = readCodeName(thrown);
  if (["json", "jsonl", "yaml"].includes(globals.output ?? "table")) {
    const error = { ...(code === undefined ? {} : { code }), message, ...(hint === undefined ? {} : { hint }) };
    note(JSON.stringify({ error }));
  } else note(`error: ${printable(message)}${hint === undefined ? "" : `\n  try  ${hint}`}`);
  if (globals.debug && thrown instanceof Error) note(thrown.stack ?? "");
  return toExitCode(thrown);
}
