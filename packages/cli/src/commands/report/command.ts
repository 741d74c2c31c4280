import { Option, type Command } from "commander";
import type { CommandContext, TeamChoice } from "../../session/command-context.ts";
import { examples, withParts, withTeam } from "../../core/arguments.ts";
import type { Dimension } from "./report.ts";
import type { UsageOptions } from "./usage.ts";

const SUMMED: readonly Dimension[] = ["user", "group", "token", "model", "channel"];

export function reportCommands(program: Command, context: CommandContext): void {
  const { client, output, io, resolveTeam } = context;
  const report = withTeam(program.command("report"), "calls")
    .alias("reports")
    .description("calls, tokens and spending by any fields, the most expensive first")
    .addOption(
      new Option(
        "--by <list>",
        "user, group, token, model, channel: one of them from sums of whole hours; or up to three, also team, actor, end_user and tag:KEY, from the rows of the log",
      ).makeOptionMandatory(),
    )
    .option("--since <when>", "7d, 12h or a date; sums count the hour in which it lies from its beginning", "7d")
    .option("--until <when>", "like --since; without it until now")
    .option("--user <name>", "only calls of this user; administrators only")
    .option("--model <name>", "only calls of this model; % is a wildcard")
    .option("--group <name>", "only calls of this group")
    .option("--tag <tag...>", "only calls with this tag, such as app=shop, or app for any value")
    .option("--end-user <name>", "only calls for this customer")
    .addOption(new Option("--interval <word>", "rows for each of them").choices(["hour", "day", "week", "month"]))
    .option("--time-zone <name>", "where days begin, such as Europe/Berlin; without it here")
    .addOption(new Option("--format <word>", "a file as the gateway writes it").choices(["csv", "parquet"]))
    .option("--output-file <path>", "a new file that only you can read; without it the file is printed")
    .action(async (options: UsageOptions & TeamChoice) => {
      const asked = { ...options, ofTeam: await resolveTeam(options) };
      if (options.format !== undefined || options.outputFile !== undefined)
        return (await import("./usage.ts")).saveUsage(await client(), asked, output(), io.nowSeconds());
      const by = findSummed(asked);
      if (by === undefined)
        return (await import("./usage.ts")).printUsage(await client(), asked, output(), io.nowSeconds());
      const { printReport } = await import("./report.ts");
      return printReport(await client(), { ...options, ...by }, output(), io.nowSeconds());
    });
  examples(
    withParts(report),
    "fairway report --by model --since 30d",
    "fairway report --by tag:app,model --since 30d --interval month",
    "fairway report --by end_user --tag app=shop -o csv > customers.csv",
    "fairway report --by tag:app,end_user --format parquet --output-file october.parquet",
    "fairway report --by user --since 2026-10-01 --until 2026-11-01 -o csv > october.csv",
    "fairway report --by model --user ann --interval day -o jsonl",
    "fairway report --by actor,model --team research --since 30d",
  );
}

/** Returns the field and the interval if the hourly sums answer the question; they stay when the log is deleted. */
function findSummed({ by, interval, user, tag, endUser, model, group, timeZone, ofTeam }: UsageOptions) {
  const field = SUMMED.find((name) => name === by);
  const isFiltered = [tag, endUser, model, group, timeZone, ofTeam].some((value) => value !== undefined);
  const isOfUser = user === undefined || field === "token" || field === "model";
  if (field === undefined || isFiltered || !isOfUser) return undefined;
  if (interval === undefined) return { by: field, interval: undefined };
  return interval === "hour" || interval === "day" ? ({ by: field, interval } as const) : undefined;
}
