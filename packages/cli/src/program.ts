import { Command, InvalidArgumentError, Option } from "commander";
import { formatTime } from "@fairway/wire";
import type { ChannelCreateOptions, ChannelListOptions } from "./commands/channel.ts";
import type { LogListOptions } from "./commands/log.ts";
import type { TokenCreateOptions } from "./commands/token.ts";
import { CliError, EXIT } from "./exit.ts";
import { printOne, type Format, type Output } from "./print/output.ts";
import { openSession } from "./session.ts";

export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly width: number | undefined;
  readonly isTerminal: boolean;
  readonly nowSeconds: () => number;
  out(text: string): void;
  note(text: string): void;
}

const HELP = `
Environment:
  FAIRWAY_SERVER, FAIRWAY_TOKEN  instead of a sign-in; FAIRWAY_USER_ID is checked against the token
  FAIRWAY_CONFIG                 file of the sign-in, ~/.config/fairway/credentials.json
  NO_COLOR                       no colours, as --no-color

Exit codes:
  0 done    1 failure    2 wrong usage    3 not found    4 not signed in    5 conflict
  6 not allowed    7 server unreachable or busy    8 some of several failed    130 interrupted`;

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
  program.option("--no-color", "no colours");
  const output = (): Output => ({
    format: program.opts<{ output: Format }>().output,
    width: io.width,
    out: io.out,
    note: io.note,
  });
  const client = () => openSession(io.env).client;

  program
    .command("login")
    .argument("[server]", "address of the gateway; https unless it names http or this machine", "http://127.0.0.1:3000")
    .description("sign in and remember it")
    .option("-u, --username <name>", "asked when absent; the password always is")
    .option("--token-stdin", "read an access token from standard input instead; asked for in a terminal")
    .option("--insecure-http", "allow plain http beyond this machine")
    .action(async (server: string, options: object) =>
      (await import("./commands/login.ts")).runLogin(server, options, output(), io.env),
    );

  program
    .command("status")
    .description("version, balance, traffic and channels at a glance")
    .option("-w, --watch", "keep looking, in a screen of its own")
    .option("--interval <seconds>", "seconds between two looks, an hour at most", interval, 5)
    .action(async (options: { watch?: boolean; interval: number }) => showStatus(options, output(), io));

  channelCommands(program, client, output);

  tokenCommands(program, client, output, io);
  optionCommands(program, client, output);
  logCommands(program, client, output, io);
  return program;
}

type ClientOf = () => ReturnType<typeof openSession>["client"];
type OutputOf = () => Output;

function tokenCommands(program: Command, client: ClientOf, output: OutputOf, io: Io): void {
  const token = program.command("token").alias("tokens").description("API keys of the signed-in user");
  token
    .command("create")
    .description("create a key and print it, once")
    .requiredOption("--name <name>", "what it is for")
    .option("--quota <amount>", "5usd, 500000 or unlimited", "unlimited")
    .option("--expires <when>", "never, 30d, 12h or a date", "never")
    .option("--models <list>", "comma list of the only models that it may use")
    .option("--group <name>", "group whose channels and prices it uses")
    .option("--allow-ip <network...>", "addresses or networks that may use it")
    .action(async (options: TokenCreateOptions) =>
      (await import("./commands/token.ts")).createToken(client(), options, output(), io.nowSeconds()),
    );
}

function optionCommands(program: Command, client: ClientOf, output: OutputOf): void {
  const option = program
    .command("option")
    .alias("options")
    .description("settings of the gateway (super administrator)");
  option
    .command("get")
    .argument("[key]", "all when absent")
    .description("print one setting or all")
    .action(async (key: string | undefined) =>
      (await import("./commands/option.ts")).getOptions(client(), key, output()),
    );
  option
    .command("set")
    .argument("<key>")
    .argument("<value>", "text, @file, or - for standard input; secrets belong there")
    .description("change a setting")
    .action(async (key: string, value: string) =>
      (await import("./commands/option.ts")).setOption(client(), key, value, output()),
    );
}

function logCommands(program: Command, client: ClientOf, output: OutputOf, io: Io): void {
  const log = program.command("log").alias("logs").description("what happened");
  log
    .command("list")
    .description("newest rows first")
    .option("--type <word>", "topup, consume, manage or system")
    .option("--user <name>", "administrators only")
    .option("--token <name>")
    .option("--model <name>", "% is a wildcard")
    .option("--since <span>", "15m, 1h, 7d")
    .option("--limit <count>", "rows at most", positive, 100)
    .action(async (options: LogListOptions) =>
      (await import("./commands/log.ts")).listLogs(client(), options, output(), io.nowSeconds()),
    );
}

function channelCommands(program: Command, client: ClientOf, output: OutputOf): void {
  const load = () => import("./commands/channel.ts");
  const channel = program
    .command("channel")
    .alias("channels")
    .alias("ch")
    .description("upstream providers (administrators)");
  channel
    .command("list")
    .description("best priority first")
    .option("--search <text>", "id, name or exact key")
    .option("--group <name>")
    .option("--model <name>")
    .option("--limit <count>", "rows at most", positive, 100)
    .action(async (options: ChannelListOptions) => (await load()).listChannels(client(), options, output()));
  channel
    .command("create")
    .description("connect a provider")
    .requiredOption("--type <number>", "channel type, 1 = OpenAI", positive)
    .requiredOption("--name <name>")
    .requiredOption("--models <list>", "comma list")
    .option("--group <list>", "comma list", "default")
    .option("--base-url <url>", "instead of the provider's own")
    .option("--priority <number>", "higher is tried first", integer)
    .option("--weight <number>", "share inside a priority", integer)
    .option("--key-file <path>", "file that holds the key; several keys, one a line, make several channels")
    .addOption(
      new Option("--key-stdin", "read the key from standard input; asked for in a terminal").conflicts("keyFile"),
    )
    .action(async (options: ChannelCreateOptions) => (await load()).createChannel(client(), options, output()));
  channel
    .command("test")
    .argument("<id...>", "as `fairway channel list` shows them", (text, ids?: number[]) => [
      ...(ids ?? []),
      positive(text),
    ])
    .description("send one small request through each channel")
    .option("--model <name>", "instead of the channel's test model")
    .action(async (ids: number[], options: { model?: string }) =>
      (await load()).testChannels(client(), ids, options.model, output()),
    );
}

async function showStatus(options: { watch?: boolean; interval: number }, output: Output, io: Io): Promise<void> {
  const { client, profile } = openSession(io.env);
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

function positive(text: string): number {
  const value = integer(text);
  if (value < 1) throw new InvalidArgumentError("It must be above 0.");
  return value;
}

function integer(text: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

function interval(text: string): number {
  const value = positive(text);
  if (value > 3600) throw new InvalidArgumentError("It must be 3600 at most.");
  return value;
}
