import { VERSION } from "../version.ts";
import { UsageError } from "./arguments.ts";
import type { Command, CommandContext } from "./context.ts";
import { exportAll, EXPORT_USAGE } from "./export.ts";
import { importAny, IMPORT_USAGE } from "./import.ts";
import { ledger, LEDGER_USAGE } from "./ledger.ts";
import { logs, LOGS_USAGE } from "./logs.ts";
import { migrate, MIGRATE_USAGE, reseal, RESEAL_USAGE } from "./schema.ts";

const COMMANDS: Readonly<Record<string, { readonly run: Command; readonly usage: string }>> = {
  export: { run: exportAll, usage: EXPORT_USAGE },
  import: { run: importAny, usage: IMPORT_USAGE },
  ledger: { run: ledger, usage: LEDGER_USAGE },
  logs: { run: logs, usage: LOGS_USAGE },
  migrate: { run: migrate, usage: MIGRATE_USAGE },
  reseal: { run: reseal, usage: RESEAL_USAGE },
};

const USAGE = `fairway-gateway             serve
fairway-gateway migrate      bring the database to this version
fairway-gateway export       write everything into files
fairway-gateway import       read them, or a database of another gateway
fairway-gateway ledger audit compare balances with the ledger; --repair
fairway-gateway logs partition
                            divide the log into partitions by day
fairway-gateway logs copy    copy the log to ClickHouse; --from URL
fairway-gateway reseal       encrypt secrets again with the first key
fairway-gateway version      say which version this is

Settings come from FAIRWAY_* variables: docs/reference/environment.md.`;

const HELP = ["help", "--help", "-h"];

/** Returns texts that need no settings; undefined for every other command line. */
export function findStaticAnswer([name = "", ...args]: readonly string[]): string | undefined {
  if (HELP.includes(name)) return USAGE;
  if (["version", "--version", "-v"].includes(name)) return VERSION;
  return args.some((arg) => arg === "--help" || arg === "-h") ? findCommand(name)?.usage : undefined;
}

function findCommand(name: string) {
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
}

/** Runs the command in the first argument. Throws UsageError for an unknown one. */
export async function runCommand([name = "", ...args]: readonly string[], context: CommandContext): Promise<void> {
  const command = findCommand(name);
  if (!command) {
    throw new UsageError(`there is no command ${name}: it is ${Object.keys(COMMANDS).join(", ")}, or none to serve`);
  }
  await command.run(args, context);
}
