import { settleColour } from "./terminal/colour.ts";
import type { Io } from "./core/io.ts";
import { EXIT } from "./core/exit.ts";
import { printable } from "./print/printable.ts";
import { openStandardOutput } from "./terminal/standard-output.ts";
import { handleFaults } from "./terminal/faults.ts";
import { report, runWords } from "./run.ts";
import { isTooOld, OLDEST_NODE } from "./core/version.ts";

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
  get isTerminal() {
    return process.stdin.isTTY && process.stdout.isTTY;
  },
  isPiped: !process.stdout.isTTY,
  closeInput: () => void Object.defineProperty(process.stdin, "isTTY", { value: false }),
  nowSeconds: () => Math.floor(Date.now() / 1000),
  useUtc: () => void (process.env["TZ"] = "UTC"),
  write,
  out: (text) => write(`${text}\n`),
  room,
  note: (text) => void process.stderr.write(`${printable(text, "\n")}\n`),
};
const isDebug = process.argv.includes("--debug");
handleFaults((cause) => {
  void report(cause, { debug: isDebug }, io).then((code) => {
    standardOutput.flush();
    process.exit(code);
  });
});
const code = await runWords(process.argv.slice(2), io);
if (code !== EXIT.ok) process.exitCode = code;
