import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { onTestFinished, TestRunner } from "vitest";

export const PROGRAM = join(import.meta.dirname, "../dist/fairway.mjs");

export interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

type Variables = Readonly<Record<string, string>>;

/** Runs the built command with pipes, like a script. */
export async function run(args: readonly string[], env: Variables, input = ""): Promise<Finished> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { env: environment(env) });
  let out = "";
  let err = "";
  child.stdout.on("data", (part: Buffer) => (out += part.toString()));
  child.stderr.on("data", (part: Buffer) => (err += part.toString()));
  child.stdin.end(input);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, out, err };
}

/** The built command in a pseudo-terminal of its own, as a person uses it. */
export interface Terminal {
  /** Everything shown so far, without control sequences. */
  readonly shown: string;
  /** Everything shown so far, with control sequences. */
  readonly raw: string;
  /** Resolves when the shown output contains the text. */
  sees(text: string | RegExp, timeoutMs?: number): Promise<void>;
  type(keys: string): void;
  /** Closes the terminal, even if a test failed before the program was left. */
  close(): void;
  readonly exited: Promise<number | null>;
}

/** `columns` is the width of the terminal; 0 if it is unknown. A program that still runs ends with its test. */
export function openTerminal(args: readonly string[], env: Variables, columns = 0, pidFile = ""): Terminal {
  const words = [process.execPath, PROGRAM, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  const child = spawn(
    "script",
    [
      "-q",
      "-f",
      "-e",
      "-c",
      `${columns > 0 ? `stty cols ${columns} rows 24; ` : ""}${pidFile === "" ? "" : `echo $$ > ${pidFile}; exec `}${words.join(" ")}`,
      "/dev/null",
    ],
    { env: environment(env) },
  );
  let shown = "";
  let raw = "";
  const waiting = new Set<() => void>();
  child.stdout.on("data", (part: Buffer) => {
    raw += part.toString();
    shown += stripVTControlCharacters(part.toString());
    for (const look of waiting) look();
  });
  const exited = once(child, "close").then(([code]) => code as number | null);
  if (TestRunner.getCurrentTest())
    onTestFinished(async () => {
      // The terminal hangs up on its program.
      child.kill("SIGKILL");
      await exited;
    });
  return {
    get shown() {
      return shown;
    },
    get raw() {
      return raw;
    },
    sees: (text, timeoutMs = 20_000) =>
      new Promise((resolve, reject) => {
        const done = (settle: () => void) => {
          clearTimeout(timer);
          waiting.delete(look);
          settle();
        };
        const look = () => {
          if (typeof text === "string" ? shown.includes(text) : text.test(shown)) done(resolve);
        };
        const timer = setTimeout(
          () => done(() => reject(new Error(`${String(text)} was not shown, but:\n${shown}`))),
          timeoutMs,
        );
        waiting.add(look);
        look();
      }),
    type: (keys) => void child.stdin.write(keys),
    close: () => void child.kill(),
    exited,
  };
}

export function environment(env: Variables): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return { PATH, HOME, TERM: "xterm-256color", ...env };
}
