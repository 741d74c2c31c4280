import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { CliError, EXIT } from "./exit.ts";

/** Asks on the terminal; `isSecret` shows nothing of what is typed. Fails with exit 2 without a terminal. */
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
    return (await answer).trim();
  } finally {
    lines.close();
    if (isSecret) process.stderr.write("\n");
  }
}

/** All of standard input, for keys and tokens that must not stand in a command line. */
export async function readStdin(): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8").trim();
}
