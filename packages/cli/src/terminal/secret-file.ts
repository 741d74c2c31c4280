import { writeFileSync } from "node:fs";
import { CliError, readErrorCode, EXIT } from "../core/exit.ts";

/** Fails before anything is created if the file could not be written afterwards; an existing file is never replaced. */
export function openSecretFile(path: string): { write(lines: readonly string[]): void } {
  try {
    writeFileSync(path, "", { mode: 0o600, flag: "wx" });
  } catch (cause) {
    const hint = readErrorCode(cause) === "EEXIST" ? "name a new file, or remove this one" : "name another file";
    throw new CliError(`--output-file: ${path} cannot be written (${readErrorCode(cause)})`, EXIT.usage, hint);
  }
  return { write: (lines) => writeFileSync(path, lines.map((line) => `${line}\n`).join("")) };
}
