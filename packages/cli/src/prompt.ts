import { readFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { CliError, codeOf, EXIT } from "./exit.ts";

/**
 * Asks on the terminal; `isSecret` shows nothing of what is typed. Fails with exit 2 without a terminal, and with 130
 * where the person gives up.
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

/** Ctrl-C and Ctrl-D, which the terminal hands over as letters while it is asked. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

/** All of standard input, for keys and tokens that must not stand in a command line; asked for in a terminal. */
export async function readStdin(question: string): Promise<string> {
  if (process.stdin.isTTY) return (await ask(`${question} (one line)`, true)).trim();
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8").trim();
}

/** The text of a file that a flag or an argument names. */
export function readTextFile(path: string, source: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (cause) {
    throw new CliError(`${source}: ${path} cannot be read (${codeOf(cause)})`, EXIT.usage, "name a file of text");
  }
}
