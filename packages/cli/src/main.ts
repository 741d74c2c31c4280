import { CommanderError } from "commander";
import { settleColour } from "./terminal/colour.ts";
import { EXIT } from "./core/exit.ts";
import { printable } from "./print/printable.ts";
import { createProgram } from "./program.ts";
import { VERSION } from "./core/version.ts";

settleColour(process.env, process.argv, process.stdout.isTTY);
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(EXIT.ok);
  process.stderr.write(`error: the output could not be written (${error.code})\n`);
  process.exit(EXIT.failure);
});
// The reader of standard error may close it early; the exit code still counts.
process.stderr.on("error", () => undefined);
process.once("SIGINT", () => process.exit(EXIT.interrupted));

const write = (text: string) => void process.stdout.write(process.stdout.isTTY ? printable(text, "\n\t") : text);
const program = createProgram(VERSION, {
  env: process.env,
  width: process.stdout.isTTY ? process.stdout.columns : undefined,
  isTerminal: process.stdin.isTTY && process.stdout.isTTY,
  nowSeconds: () => Math.floor(Date.now() / 1000),
  useUtc: () => void (process.env["TZ"] = "UTC"),
  write,
  out: (text) => write(`${text}\n`),
  note: (text) => void process.stderr.write(`${printable(text, "\n")}\n`),
});
for (const command of [program, ...program.commands.flatMap((one) => [one, ...one.commands])]) command.exitOverride();

try {
  await program.parseAsync();
} catch (thrown) {
  process.exitCode =
    thrown instanceof CommanderError ? (thrown.exitCode === 0 ? EXIT.ok : EXIT.usage) : await fail(thrown);
}

/** One line, the cure below it, no stack. */
async function fail(thrown: unknown): Promise<number> {
  const { exitCodeOf, hintOf, messageOf } = await import("./core/problem.ts");
  const message = messageOf(thrown);
  const hint = hintOf(thrown);
  const isJson = ["json", "jsonl", "yaml"].includes(program.opts<{ output: string }>().output);
  if (isJson)
    process.stderr.write(`${JSON.stringify({ error: { message, ...(hint === undefined ? {} : { hint }) } })}\n`);
  else process.stderr.write(`error: ${printable(message)}\n${hint === undefined ? "" : `  try  ${hint}\n`}`);
  return exitCodeOf(thrown);
}
