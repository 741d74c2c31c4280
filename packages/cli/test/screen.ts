import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { createScreenBuffer } from "./screen-buffer.ts";
import { openTerminal } from "./terminal.ts";

/** A program in a pseudo-terminal as a person sees it: the current screen, not the written bytes. */
export interface Screen {
  lines(): string[];
  /** Waits until the screen shows a text. */
  shows(text: string | RegExp): Promise<void>;
  type(keys: string): void;
  resize(columns: number, rows: number): void;
  /** Returns everything that was written, with control sequences. */
  raw(): string;
  /** Quits with `q` and returns the exit code. */
  leave(): Promise<number | null>;
}

const ROWS = 24;
let opened = 0;

export function openScreen(
  words: readonly string[],
  env: Readonly<Record<string, string>> & { readonly FAIRWAY_CONFIG: string },
  columns = 80,
): Screen {
  const pidFile = join(dirname(env.FAIRWAY_CONFIG), `screen-${++opened}.pid`);
  const terminal = openTerminal(words, env, columns, pidFile);
  onTestFinished(terminal.close);
  const buffer = createScreenBuffer(columns, ROWS);
  let seen = 0;
  const read = () => {
    buffer.write(terminal.raw.slice(seen));
    seen = terminal.raw.length;
  };
  const lines = () => {
    read();
    return buffer.lines();
  };
  const text = () => lines().join("\n");
  return {
    lines,
    async shows(wanted) {
      const how = { timeout: 30_000, message: String(wanted) };
      if (typeof wanted === "string") await expect.poll(text, how).toContain(wanted);
      else await expect.poll(text, how).toMatch(wanted);
    },
    resize(width, height) {
      read();
      const tty = readlinkSync(`/proc/${readFileSync(pidFile, "utf8").trim()}/fd/0`);
      buffer.resize(width, height);
      execFileSync("stty", ["-F", tty, "cols", String(width), "rows", String(height)]);
    },
    type: terminal.type,
    raw: () => terminal.raw,
    async leave() {
      terminal.type("q");
      return terminal.exited;
    },
  };
}
