import { spawn } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./bootstrap.mjs";

/** Compiled sources of earlier starts, which halve the time that a gateway needs to start from its sources. */
export const COMPILE_CACHE: Readonly<Record<string, string>> = {
  NODE_COMPILE_CACHE: join(ROOT, "node_modules", ".cache", "node-compile"),
};

export interface Finished {
  readonly code: number;
  /** The output of the program, both streams in order. */
  readonly output: string;
}

export interface RunSettings {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Also prints the output as it arrives. */
  readonly isLoud?: boolean;
  /** Ends the program with SIGKILL after this time. */
  readonly timeoutMs?: number;
}

/** Runs a program to its end; does not throw if it fails. */
export function run(command: string, args: readonly string[], settings: RunSettings = {}): Promise<Finished> {
  const child = spawn(command, args, {
    cwd: settings.cwd ?? ROOT,
    env: { ...process.env, ...(settings.isLoud && process.stdout.isTTY ? {} : { NO_COLOR: "1" }), ...settings.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8");
      if (settings.isLoud) process.stdout.write(chunk);
    });
  }
  const timer = settings.timeoutMs ? setTimeout(() => child.kill("SIGKILL"), settings.timeoutMs) : undefined;
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ code: 127, output: error.message }));
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      resolve({ code: code ?? 1, output: signal ? `${output}\n${command} was ended by ${signal}\n` : output });
    });
  });
}

/** Runs an installed command-line program of node_modules under this Node. */
export function runTool(file: string, args: readonly string[], settings: RunSettings = {}): Promise<Finished> {
  return run(process.execPath, [join(ROOT, "node_modules", file), ...args], settings);
}

/** Runs the body of a script; an error ends it with one message instead of a stack. */
export async function main(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
