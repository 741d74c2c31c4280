import { Command, Option } from "commander";
import type { CommandContext, Io } from "./core/command-context.ts";
import { CliError, EXIT } from "./core/exit.ts";
import { FORMATS, type Format } from "./print/format.ts";
import type { Output } from "./print/output.ts";
import { accountCommands } from "./commands/account/command.ts";
import { apiCommands } from "./commands/api/command.ts";
import { list } from "./commands/arguments.ts";
import { catalogueCommands } from "./commands/catalogue/command.ts";
import { channelCommands } from "./commands/channel/command.ts";
import { chatCommands } from "./commands/chat/command.ts";
import { completionCommands } from "./commands/completion/command.ts";
import { documentCommands } from "./commands/documents/command.ts";
import { logCommands } from "./commands/log/command.ts";
import { optionCommands } from "./commands/option/command.ts";
import { redemptionCommands } from "./commands/redemption/command.ts";
import { statusCommands } from "./commands/status/command.ts";
import { tokenCommands } from "./commands/token/command.ts";
import { uiCommands } from "./commands/ui/command.ts";
import { userCommands } from "./commands/user/command.ts";

/** Variables that every command reads. */
export const VARIABLES: Readonly<Record<string, string>> = {
  "FAIRWAY_SERVER, FAIRWAY_TOKEN": "instead of a sign-in; FAIRWAY_USER_ID is checked against the token",
  FAIRWAY_INSECURE_HTTP: "1 lets FAIRWAY_TOKEN travel over plain http to another machine",
  FAIRWAY_CONTEXT: "as --context",
  FAIRWAY_CONFIG: "file of the sign-in, ~/.config/fairway/credentials.json",
  NO_COLOR: "no colours, as --no-color",
};

const HELP = `
Environment:
${Object.entries(VARIABLES)
  .map(([name, about]) => `  ${name.padEnd(29)}  ${about}`)
  .join("\n")}

Exit codes:
  0 done    1 failure    2 wrong usage    3 not found    4 not signed in    5 conflict
  6 not allowed    7 server unreachable or busy    8 some of several failed    130 interrupted`;

/** In the order of the help. */
const NOUNS = [
  channelCommands,
  tokenCommands,
  logCommands,
  userCommands,
  redemptionCommands,
  optionCommands,
  catalogueCommands,
  chatCommands,
  documentCommands,
  apiCommands,
  completionCommands,
];

interface LayoutOptions {
  readonly output: Format;
  readonly columns?: readonly string[];
  readonly headers: boolean;
}

function layoutOf({ output, columns, headers }: LayoutOptions): Pick<Output, "format" | "columns" | "hasTitles"> {
  const flag = columns ? "--columns" : headers ? undefined : "--no-headers";
  if (flag !== undefined && !WITH_COLUMNS.includes(output))
    throw new CliError(`-o ${output} has no columns`, EXIT.usage, `leave out ${flag}, or use -o csv`);
  return { format: output, columns, hasTitles: headers };
}

const WITH_COLUMNS: readonly Format[] = ["table", "wide", "csv", "tsv"];

/** The command tree. Each action loads its module when it runs, so that `--version` loads none. */
export function createProgram(version: string, io: Io): Command {
  const program = new Command("fairway")
    .description("Operate a Fairway gateway from the terminal.")
    .version(version)
    .showHelpAfterError("(try --help)")
    .addHelpText("after", HELP);
  program.addOption(new Option("-o, --output <format>", "how data is printed").choices(FORMATS).default("table"));
  program.option(
    "--columns <list>",
    "only these, of tables, csv and tsv: by title or by name, with commas between",
    list,
  );
  program.option("--no-headers", "no line of titles in tables, csv and tsv");
  program.option("--utc", "times in UTC, not in the zone of this machine");
  program.on("option:utc", () => io.useUtc());
  program.option("-c, --context <name>", "the sign-in to use, of several; see `fairway context`");
  program.option("--no-color", "no colours");
  const env = () => {
    const chosen = program.opts<{ context?: string }>().context;
    return chosen === undefined ? io.env : { ...io.env, FAIRWAY_CONTEXT: chosen };
  };
  const session = async () => (await import("./session/session.ts")).openSession(env());
  const output = (): Output => ({
    ...layoutOf(program.opts<LayoutOptions>()),
    width: io.width,
    quotaPerUnit: async () => (await import("./commands/status/overview.ts")).quotaPerUnit((await session()).client),
    out: io.out,
    note: io.note,
  });
  const context: CommandContext = { io, env, output, session, client: async () => (await session()).client };

  accountCommands(program, context);
  statusCommands(program, context);
  uiCommands(program, context);
  for (const add of NOUNS) add(program, context);
  return program;
}
