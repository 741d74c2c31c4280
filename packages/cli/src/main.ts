import { CommanderError } from "commander";
import { settleColour } from "./terminal/colour.ts";
import type { Io } from "./core/command-context.ts";
import { EXIT } from "./core/exit.ts";
import { printable } from "./print/printable.ts";
import { openStandardOutput } from "./terminal/standard-output.ts";
import { createProgram } from "./program.ts";
import { defaultsOf } from "./session/defaults.ts";
import type { Globals } from "./core/globals.ts";
import { isTooOld, OLDEST_NODE, VERSION } from "./core/version.ts";

if (isTooOld(process.versions.node)) {
  process.stderr.write(
    `error: this is Node.js ${process.versions.node}, and fairway needs ${OLDEST_NODE} or newer\n  try  update Node.js, or use the single executable of the release, which needs none\n`,
  );
  process.exit(EXIT.failure);
}
settleColour(process.env, process.argv, process.stdout.isTTY);
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(EXIT.ok);
  process.stderr.write(`error: the output could not be written (${error.code})\n`);
  process.exit(EXIT.failure);
});
// The reader of standard error may close it early; the exit code still counts.
process.stderr.on("error", () => undefined);
const standardOutput = openStandardOutput(process.stdout);
process.once("SIGINT", () => {
  standardOutput.flush();
  process.exit(EXIT.interrupted);
});

const { write, room } = standardOutput;
const io: Io = {
  env: process.env,
  // A terminal that does not know its width says 0.
  width: (process.stdout.isTTY && process.stdout.columns) || undefined,
  isTerminal: process.stdin.isTTY && process.stdout.isTTY,
  nowSeconds: () => Math.floor(Date.now() / 1000),
  useUtc: () => void (process.env["TZ"] = "UTC"),
  write,
  out: (text) => write(`${text}\n`),
  room,
  note: (text) => void process.stderr.write(`${printable(text, "\n")}\n`),
};
let globals: Partial<Globals> = {};

try {
  const program = createProgram(VERSION, io, defaultsOf(process.env));
  for (const command of [program, ...program.commands.flatMap((one) => [one, ...one.commands])]) command.exitOverride();
  globals = program.opts<Globals>();
  await program.parseAsync();
} catch (thrown) {
  process.exitCode =
    thrown instanceof CommanderError ? (thrown.exitCode === 0 ? EXIT.ok : EXIT.usage) : await fail(thrown);
}

/** One line, the cure below it, no stack. */
async function fail(thrown: unknown): Promise<number> {
  const { codeNameOf, exitCodeOf, hintOf, isNotSent, messageOf } = await import("./core/problem.ts");
  if (isNotSent(thrown)) {
    if (!globals.quiet) process.stderr.write("Nothing was changed: --dry-run.\n");
    return EXIT.ok;
  }
  const message = messageOf(thrown);
  const hint = hintOf(thrown);
  const code = codeNameOf(thrown);
  if (["json", "jsonl", "yaml"].includes(globals.output ?? "table")) {
    const error = { ...(code === undefined ? {} : { code }), message, ...(hint === undefined ? {} : { hint }) };
    process.stderr.write(`${JSON.stringify({ error })}\n`);
  } else process.stderr.write(`error: ${printable(message)}\n${hint === undefined ? "" : `  try  ${hint}\n`}`);
  if (globals.debug && thrown instanceof Error) process.stderr.write(`${printable(thrown.stack ?? "", "\n")}\n`);
  return exitCodeOf(thrown);
}
