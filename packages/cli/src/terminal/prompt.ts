import { readFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { CliError, readErrorCode, EXIT } from "../core/exit.ts";
import { printable } from "../print/printable.ts";

/**
 * Asks on the terminal; `isSecret` hides what is typed. Fails with exit 2 without a terminal, and with 130 if the
 * person cancels.
 */
export async function ask(question: string, isSecret = false): Promise<string> {
  if (!process.stdin.isTTY) throw new CliError(`${question} cannot be asked without a terminal`, EXIT.usage);
  let isMuted = false;
  const echo = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!isMuted) process.stderr.write(chunk);
      done();
    },
  });
  const lines = createInterface({ input: process.stdin, output: echo, terminal: true });
  try {
    const answer = lines.question(`${question}: `);
    isMuted = isSecret;
    const text = await answer;
    if (isSecret) process.stderr.write("\n");
    return text;
  } catch (error) {
    process.stderr.write("\n");
    throw isAbort(error) ? new CliError("interrupted", EXIT.interrupted) : error;
  } finally {
    lines.close();
  }
}

/**
 * Stops unless a person agrees: to one thing with `y`, to several by typing their number. `isAgreed` is the `--yes` of
 * scripts; without it, a run without a terminal does nothing.
 */
export async function confirm(action: string, count: number, isAgreed = false): Promise<void> {
  if (isAgreed) return;
  requireTerminal(action, "add --yes if it is meant");
  const question = printable(`${action}? ${count === 1 ? "[y/N]" : `Type ${count} to confirm`}`);
  const answer = (await ask(question)).trim();
  const isMeant = count === 1 ? /^y(es)?$/i.test(answer) : answer === String(count);
  if (!isMeant) throw new CliError("not confirmed, nothing was changed");
}

/** Asks the same in a protected context, whose name the person types. */
export async function confirmByName(action: string, context: string): Promise<void> {
  requireTerminal(action, `in a protected context name it as well: --context ${context} --yes`);
  const answer = (await ask(printable(`${action}? ${context} is protected: type its name to confirm`))).trim();
  if (answer !== context) throw new CliError("not confirmed, nothing was changed");
}

function requireTerminal(action: string, hint: string): void {
  if (!process.stdin.isTTY)
    throw new CliError(`not confirmed, and there is no terminal to ask: ${action}`, EXIT.usage, hint);
}

/** Ctrl-C and Ctrl-D, which the terminal delivers as characters during a prompt. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

/** Reads all of standard input, for keys and tokens that must not be on a command line; a terminal shows a prompt. */
export async function readStdin(question: string): Promise<string> {
  return (await readSecret(question)).trim();
}

/** Reads the password of `--password-stdin`. */
export async function readPassword(): Promise<string> {
  const password = await readSecret("Password");
  if (password !== "") return password;
  throw new CliError("--password-stdin: standard input holds no password", EXIT.usage, "pipe it in, as one line");
}

/** Reads standard input untrimmed: only the final line end is not part of a password. */
export async function readSecret(question: string): Promise<string> {
  if (process.stdin.isTTY) return ask(`${question} (one line)`, true);
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(part as Buffer);
  return Buffer.concat(parts)
    .toString("utf8")
    .replace(/\r?\n$/, "");
}

/** Returns the text of a file that a flag or an argument names. */
export function readTextFile(path: string, source: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (cause) {
    throw new CliError(
      `${source}: ${path} cannot be read (${readErrorCode(cause)})`,
      EXIT.usage,
      "name a file of text",
    );
  }
}
