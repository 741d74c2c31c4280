import type { Env } from "../config/env.ts";
import type { Logger } from "../observability/log.ts";
import { UsageError } from "./arguments.ts";
import { exportAll } from "./export.ts";
import { importAny } from "./import.ts";
import { ledger } from "./ledger.ts";
import { migrate, reseal } from "./schema.ts";

export interface CommandContext {
  readonly env: Env;
  readonly log: Logger;
  readonly print: (line: string) => void;
}

export type Command = (args: readonly string[], context: CommandContext) => Promise<void>;

const COMMANDS: Readonly<Record<string, Command>> = {
  export: exportAll,
  import: importAny,
  ledger,
  migrate,
  reseal,
};

/** Runs the command that the first argument names; false without arguments: then the program serves. */
export async function runCommand([name, ...args]: readonly string[], context: CommandContext): Promise<boolean> {
  if (name === undefined) return false;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) {
    throw new UsageError(`there is no command ${name}: it is ${Object.keys(COMMANDS).join(", ")}, or none to serve`);
  }
  await command(args, context);
  return true;
}
