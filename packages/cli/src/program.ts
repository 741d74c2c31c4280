import { Command, Option } from "commander";
import { formatTime } from "@fairway/wire";
import type { CommandContext, Io } from "./command-context.ts";
import { CliError, EXIT } from "./exit.ts";
import { printOne, type Format, type Output } from "./print/output.ts";
import { openSession } from "./session.ts";
import { accountCommands } from "./tree/account.ts";
import { apiCommands } from "./tree/api.ts";
import { examples, interval } from "./tree/arguments.ts";
import { catalogueCommands } from "./tree/catalogue.ts";
import { channelCommands } from "./tree/channel.ts";
import { completionCommands } from "./tree/completion.ts";
import { documentCommands } from "./tree/documents.ts";
import { logCommands } from "./tree/log.ts";
import { optionCommands } from "./tree/option.ts";
import { redemptionCommands } from "./tree/redemption.ts";
import { tokenCommands } from "./tree/token.ts";
import { userCommands } from "./tree/user.ts";

/** Variables that every command reads. */
export const VARIABLES: Readonly<Record<string, string>> = {
  "FAIRWAY_SERVER, FAIRWAY_TOKEN": "instead of a sign-in; FAIRWAY_USER_ID is checked against the token",
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
  documentCommands,
  apiCommands,
  completionCommands,
];

/** The command tree. Each action loads its module when it runs, so that `--version` loads none. */
export function createProgram(version: string, io: Io): Command {
  const program = new Command("fairway")
    .description("Operate a Fairway gateway from the terminal.")
    .version(version)
    .showHelpAfterError("(try --help)")
    .addHelpText("after", HELP);
  program.addOption(
    new Option("-o, --output <format>", "how data is printed").choices(["table", "json", "jsonl"]).default("table"),
  );
  program.option("-c, --context <name>", "the sign-in to use, of several; see `fairway context`");
  program.option("--no-color", "no colours");
  const output = (): Output => ({
    format: program.opts<{ output: Format }>().output,
    width: io.width,
    out: io.out,
    note: io.note,
  });
  const env = () => {
    const chosen = program.opts<{ context?: string }>().context;
    return chosen === undefined ? io.env : { ...io.env, FAIRWAY_CONTEXT: chosen };
  };
  const context: CommandContext = { io, env, output, client: () => openSession(env()).client };

  accountCommands(program, context);
  const status = program
    .command("status")
    .description("version, balance, traffic and channels at a glance")
    .option("-w, --watch", "keep looking, in a screen of its own")
    .option("--interval <seconds>", "seconds between two looks, an hour at most", interval, 5)
    .action(async (options: { watch?: boolean; interval: number }) => showStatus(options, context));
  examples(status, "fairway status -o json | jq .channels", "fairway status --watch --interval 10");

  for (const add of NOUNS) add(program, context);
  return program;
}

async function showStatus(
  options: { watch?: boolean; interval: number },
  { io, env, output: outputOf }: CommandContext,
): Promise<void> {
  const { client, profile } = openSession(env());
  const output = outputOf();
  if (options.watch) {
    if (!io.isTerminal)
      throw new CliError("--watch needs a terminal", EXIT.usage, "use `fairway status -o json` in scripts");
    return (await import("./ui/status-screen.tsx")).showStatus({
      client,
      server: profile.server,
      intervalMs: options.interval * 1000,
    });
  }
  const { overviewOf } = await import("./commands/status.ts");
  const overview = await overviewOf(client, profile.server, new AbortController().signal);
  if (output.format !== "table") return printOne(output, { ...overview });
  const { channels } = overview;
  printOne(output, {
    server: `${overview.server} (${overview.name} ${overview.version}, since ${formatTime(overview.startedAt)})`,
    user: `${overview.user}, balance ${overview.balance}`,
    "last minute": `${overview.rpm} requests, ${overview.tpm} tokens`,
    ...(channels
      ? {
          channels: `${channels.enabled} enabled, ${channels.disabled} disabled, ${channels.autoDisabled} auto-disabled`,
        }
      : {}),
  });
}
