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

const USAGE = `fairway-gateway             serve
fairway-gateway migrate      bring the database to this version
fairway-gateway export       write everything into files
fairway-gateway import       read them, or a database of another gateway
fairway-gateway ledger audit compare balances with the ledger; --repair
fairway-gateway reseal       encrypt secrets anew under the first key

Settings come from FAIRWAY_* variables: docs/reference/environment.md.`;

/** Runs the command that the first argument names; false without arguments: then the program serves. */
export async function runCommand([name, ...args]: readonly string[], context: CommandContext): Promise<boolean> {
  if (name === undefined) return false;
  if (["help", "--help", "-h"].includes(name)) {
    context.print(USAGE);
    return true;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) {
    throw new UsageError(`there is no command ${name}: it is ${Object.keys(COMMANDS).join(", ")}, or none to serve`);
  }
  await command(args, context);
  return true;
}
