import { writeFileSync } from "node:fs";
import type { Reporter } from "vitest/node";

/** The file that the reporter writes: a JSON list of lines. */
export const OUTSIDE_ERRORS = "FAIRWAY_TEST_OUTSIDE_ERRORS";

/** Reports errors outside any test, such as an unhandled rejection, which the JSON report leaves out. */
// oxlint-disable-next-line import/no-default-export -- Vitest loads a reporter by its default export
export default class OutsideErrors implements Reporter {
  onTestRunEnd(...[modules, errors]: Parameters<NonNullable<Reporter["onTestRunEnd"]>>): void {
    const path = process.env[OUTSIDE_ERRORS];
    if (path === undefined) return;
    const broken = modules.flatMap((module) => module.errors().map((error) => ({ ...error, at: module.moduleId })));
    const lines = [...errors, ...broken].map((error) => formatThrown(error));
    writeFileSync(path, JSON.stringify(lines));
  }
}

interface Thrown {
  readonly name?: string;
  readonly message: string;
  readonly stack?: string;
  readonly at?: string;
}

/** Formats the message, the file and the first frames in one line. */
function formatThrown({ name = "Error", message, stack = "", at }: Thrown): string {
  const frames = stack
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.startsWith("at "))
    .slice(0, 4);
  return [`${name}: ${message.split("\n")[0] ?? ""}`, ...(at === undefined ? [] : [at]), ...frames].join(" | ");
}
