import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod/mini";
import { CliError, readErrorCode, EXIT } from "../../core/exit.ts";
import { resolveConfigFolder } from "../../session/contexts.ts";
import type { Lasting } from "./state.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const Stored = z.record(z.string(), z.array(z.string()));

function resolveColumnsPath(env: Environment): string {
  return join(resolveConfigFolder(env), "columns.json");
}

/** Reads the columns that were chosen before. */
export function readColumns(env: Environment): Lasting["columns"] {
  const path = resolveColumnsPath(env);
  try {
    return z.parse(Stored, JSON.parse(readFileSync(path, "utf8")));
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(readErrorCode(error))) return {};
    throw new CliError(`${path} holds no columns of screens`, EXIT.failure, "remove it");
  }
}

/** Returns a notice: empty, or why the columns apply to this screen alone. */
export function writeColumns(env: Environment, columns: Lasting["columns"]): string {
  const path = resolveColumnsPath(env);
  const draft = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${JSON.stringify(columns, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(draft, path);
    return "";
  } catch (error) {
    return `The columns hold for this screen alone: ${path} cannot be written (${readErrorCode(error)}).`;
  }
}
