import { Option, type Command } from "commander";
import { CliError, EXIT } from "../../core/exit.ts";
import type { LogFilterOptions, LogListOptions } from "./log.ts";
import type { LogStatsOptions } from "./stats.ts";
import type { CommandContext, TeamChoice } from "../../session/command-context.ts";
import { examples, id, createNameParser, positive, seconds, withParts, withTeam, yes } from "../../core/arguments.ts";

interface FollowOptions extends LogFilterOptions {
  readonly errors?: boolean;
  /** Seconds. */
  readonly minLatency?: number;
}

const load = () => import("./log.ts");

export function logCommands(program: Command, context: CommandContext): void {
  const log = program.command("log").alias("logs").description("what happened");
  listing(log, context);
  explanation(log, context);
  sums(log, context);
}

function withFilter(command: Command, { isOfCalls = false } = {}): Command {
  const types = new Option("--type <word>").choices(["topup", "consume", "manage", "system", "error"]);
  return (isOfCalls ? command : command.addOption(types))
    .option("--user <name>", "administrators only")
    .option("--token <id>", "id or name; of another user's token the id, or the name with --user", id("token"))
    .option("--model <name>", "% is a wildcard")
    .option("--channel <id>", "id or name; administrators only", id("channel"))
    .option("--group <name>")
    .option("--request <id>", "the row of one request")
    .option("--min-seconds <count>", "only what took that long", positive)
    .option("--since <when>", "15m, 1h, 7d or a date", isOfCalls ? "7d" : undefined);
}

function listing(log: Command, context: CommandContext): void {
  const { client, output, io, resolveTeam } = context;
  const list = withTeam(withFilter(log.command("list").description("newest rows first")), "rows")
    .option("--until <when>", "like --since")
    .addOption(new Option("-f, --follow", "as `fairway log follow`").conflicts(["until", "limit", "page"]))
    .action(async (options: LogListOptions & TeamChoice) => {
      if (options.follow && options.team !== undefined)
        throw new CliError("--team does not go with --follow", EXIT.usage, "leave one of them out");
      if (options.follow) return (await import("./follow.ts")).followLogs(await client(), options, output(), io);
      const ofTeam = await resolveTeam(options);
      return (await load()).listLogs(await client(), { ...options, ofTeam }, output(), io.nowSeconds());
    });
  examples(
    withParts(list),
    "fairway log list --model gpt-% --since 1h",
    "fairway log list --request 0a1b2c -o json",
    "fairway log list --team research --since 1d",
    "fairway logs list --follow --type consume",
  );
  const follow = withFilter(log.command("follow").alias("tail"))
    .addOption(new Option("--errors", "failed calls alone, as --type error").conflicts("type"))
    .addOption(
      new Option("--min-latency <span>", "only what took that long, such as 5s")
        .argParser(seconds("5s"))
        .conflicts("minSeconds"),
    )
    .description(
      "new rows as they arrive, with --since also earlier ones; continues where it stopped after a lost connection",
    )
    .action(async ({ errors, minLatency, ...options }: FollowOptions) => {
      const filter = {
        ...options,
        ...(errors && { type: "error" }),
        ...(minLatency !== undefined && { minSeconds: minLatency }),
      };
      return (await import("./follow.ts")).followLogs(await client(), filter, output(), io);
    });
  examples(
    follow,
    "fairway log follow --errors --min-latency 5s",
    "fairway log follow --token ci",
    "fairway log follow --since 10m -o jsonl | jq -c '[.model_name, .quota]'",
  );
}

function explanation(log: Command, { client, output }: CommandContext): void {
  const explain = log
    .command("explain")
    .argument("<request>", "id of a request, as in the header X-Request-Id", createNameParser("request"))
    .description("why a call failed or succeeded, went where it went, and cost what it cost")
    .action(async (request: string) => (await import("./explain.ts")).explainLog(await client(), request, output()));
  examples(
    explain,
    "fairway log explain 01M86T2MM99F5SH9C9952RV2J9",
    "fairway log explain 01M86T2MM99F5SH9C9952RV2J9 -o json | jq '.attempts[]'",
  );
}

function sums(log: Command, { client, output, io, resolveTeam }: CommandContext): void {
  const stat = withTeam(withFilter(log.command("stat")), "rows")
    .option("--until <when>", "like --since")
    .description("quota of the matching rows, requests and tokens of the last minute")
    .action(async (options: LogFilterOptions & TeamChoice) => {
      const ofTeam = await resolveTeam(options);
      return (await load()).logTotals(await client(), { ...options, ofTeam }, output(), io.nowSeconds());
    });
  examples(stat, "fairway log stat --token ci --since 30d");
  const stats = withFilter(log.command("stats"), { isOfCalls: true })
    .addOption(
      new Option("--by <what>", "the field to group by; channel and user for administrators")
        .choices(["model", "channel", "user", "token"])
        .makeOptionMandatory(),
    )
    .option("--until <when>", "like --since")
    .description("calls, tokens and quota of the matching calls, the most expensive first")
    .action(async (options: LogStatsOptions) =>
      (await import("./stats.ts")).logStats(await client(), options, output(), io.nowSeconds()),
    );
  examples(
    withParts(stats),
    "fairway log stats --by model --since 7d",
    "fairway log stats --by user --since 30d -o csv > bill.csv",
  );
  const prune = log
    .command("prune")
    .description("delete old rows for good (super administrator)")
    .requiredOption("--before <when>", "90d or a date")
    .addOption(yes())
    .action(async (options: { before: string; yes?: boolean }) =>
      (await load()).pruneLogs(await client(), options, output(), io.nowSeconds()),
    );
  examples(prune, "fairway log prune --before 180d --yes");
}
