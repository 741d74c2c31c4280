import { REPORT_ATTACHMENTS, REPORT_CADENCES } from "@fairway/wire";
import { Option, type Command } from "commander";
import type { CommandContext, TeamChoice } from "../../session/command-context.ts";
import { examples, integer, positive, withParts, withTeam, yes } from "../../core/arguments.ts";
import type { Dimension } from "./report.ts";
import type { QuestionOptions, RunOptions, ScheduleOptions } from "./saved.ts";
import type { UsageOptions } from "./usage.ts";

const SUMMED: readonly Dimension[] = ["user", "group", "token", "model", "channel"];

const INTERVALS = ["hour", "day", "week", "month"];
const FORMATS = ["csv", "parquet"];
const ONE = "id or name, as `fairway report list` shows it";

export function reportCommands(program: Command, context: CommandContext): void {
  const report = program
    .command("report")
    .alias("reports")
    .description("calls, tokens and spending by any fields; saved and scheduled ones too");
  reading(report, context);
  listing(report, context);
  saving(report, context);
}

/** `fairway report --by model` needs no further word. */
function reading(report: Command, { client, output, io, resolveTeam }: CommandContext): void {
  const usage = withTeam(report.command("usage", { isDefault: true }), "calls")
    .description("sums by any fields, the most expensive first; the word may be left out")
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
    .addOption(share())
    .addOption(split())
    .addOption(new Option("--interval <word>", "rows for each of them").choices(INTERVALS))
    .option("--time-zone <name>", "where days begin, such as Europe/Berlin; without it here")
    .addOption(new Option("--format <word>", "a file as the gateway writes it").choices(FORMATS))
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
    withParts(usage),
    "fairway report --by model --since 30d",
    "fairway report --by tag:app,model --since 30d --interval month",
    "fairway report --by end_user --tag app=shop -o csv > customers.csv",
    "fairway report --by tag:app --since 30d --share app=platform app=~none --split even",
    "fairway report --by tag:app,end_user --format parquet --output-file october.parquet",
    "fairway report --by user --since 2026-10-01 --until 2026-11-01 -o csv > october.csv",
    "fairway report --by model --user ann --interval day -o jsonl",
    "fairway report --by actor,model --team research --since 30d",
  );
}

function share(): Option {
  const meaning = "tags whose cost the other values share, such as app=platform, or app=~none for calls without";
  return new Option("--share <tag...>", meaning);
}

function split(): Option {
  return new Option("--split <how>", "how: proportional to the own cost, even, or weights such as 'shop=2|crm=1'");
}

const load = () => import("./saved.ts");

/** Opens the reports of the caller, or those of the team that the options name. */
async function openOwner({ client, resolveTeam }: CommandContext, choice: TeamChoice) {
  return (await load()).openReports(await client(), await resolveTeam(choice));
}

function listing(report: Command, context: CommandContext): void {
  const { output, io } = context;
  const list = withTeam(report.command("list"), "saved reports")
    .description("saved reports of you or of a team, by name")
    .action(async (options: TeamChoice) => (await load()).listReports(await openOwner(context, options), output()));
  examples(list, "fairway report list", "fairway report list --team research -o wide");
  const run = withTeam(report.command("run"), "a saved report")
    .argument("<report>", ONE)
    .description("make a saved report of the calls up to now, or of another period")
    .option("--since <when>", "7d, 12h or a date; without it the days that the report has")
    .option("--until <when>", "like --since; without it until now")
    .addOption(new Option("--format <word>", "a file as the gateway writes it").choices(FORMATS))
    .option("--output-file <path>", "a new file that only you can read; without it the file is printed")
    .action(async (one: string, options: RunOptions & TeamChoice) => {
      const owner = await openOwner(context, options);
      return (await load()).runReport(owner, one, options, { output: output(), nowSeconds: io.nowSeconds() });
    });
  examples(
    withParts(run),
    "fairway report run monthly",
    "fairway report run monthly --since 2026-10-01 --until 2026-11-01 --format parquet --output-file october.parquet",
  );
}

function saving(report: Command, context: CommandContext): void {
  const { output } = context;
  const save = withSchedule(
    withTeam(report.command("save"), "a saved report")
      .argument("<name>", "a name; the report of that name asks the new question")
      .description("save a report under a name, and schedule it if asked to")
      .option("--by <list>", "up to three fields, as `fairway report usage` has them; without it one row")
      .option("--days <count>", "length of the period, up to the time of the run", positive)
      .addOption(new Option("--interval <word>", "rows for each of them").choices(INTERVALS))
      .option("--time-zone <name>", "where days begin, such as Europe/Berlin; without it here")
      .option("--tag <tag...>", "only calls with this tag, such as app=shop, or app for any value")
      .option("--end-user <name>", "only calls for this customer")
      .addOption(share())
      .addOption(split())
      .option("--model <name>", "only calls of this model; % is a wildcard")
      .option("--group <name>", "only calls of this group")
      .option("--user <name>", "only calls of this user; administrators only"),
  ).action(async (name: string, options: QuestionOptions & ScheduleOptions & TeamChoice) =>
    (await load()).saveReport(await openOwner(context, options), name, options, output()),
  );
  examples(
    save,
    "fairway report save apps --by tag:app,model --days 30",
    "fairway report save costs --by tag:app --share app=platform app=~none --split even --every month --attach csv",
    "fairway report save monthly --by tag:app --interval day --every month --hour 7 --time-zone Europe/Berlin",
  );
  const schedule = withSchedule(
    withTeam(report.command("schedule"), "a saved report")
      .argument("<report>", ONE)
      .description("make a report by itself, each time for the period that is over"),
  ).action(async (one: string, options: ScheduleOptions & TeamChoice) =>
    (await load()).scheduleReport(await openOwner(context, options), one, options, output()),
  );
  examples(
    schedule,
    "fairway report schedule costs --team research --every month --to ann bob --attach csv",
    "fairway report schedule apps --every week --hour 8",
    "fairway report schedule apps --every none",
  );
  const remove = withTeam(report.command("delete"), "saved reports")
    .argument("<report...>", "ids or names, as `fairway report list` shows them")
    .description("delete saved reports and their schedules")
    .addOption(yes())
    .action(async (chosen: string[], options: { yes?: boolean } & TeamChoice) =>
      (await load()).deleteReports(await openOwner(context, options), chosen, options, output()),
    );
  examples(remove, "fairway report delete apps --yes");
}

function withSchedule(command: Command): Command {
  return command
    .addOption(new Option("--every <word>", "how often; none ends it").choices(REPORT_CADENCES))
    .option("--hour <hour>", "the hour of the day at which it is made", integer)
    .option("--mail", "mail it to you (default)")
    .option("--no-mail", "only to your event endpoints")
    .option("--to <user...>", "mail it to these people too, who are in a team with you; none takes them away")
    .addOption(new Option("--attach <word>", "what the mails have as a file").choices(REPORT_ATTACHMENTS));
}

/** Returns the field and the interval if the hourly sums answer the question; they stay when the log is deleted. */
function findSummed({ by, interval, user, ...asked }: UsageOptions) {
  const field = SUMMED.find((name) => name === by);
  const { tag, endUser, model, group, timeZone, ofTeam, share, split } = asked;
  const isFiltered = [tag, endUser, model, group, timeZone, ofTeam, share, split].some((value) => value !== undefined);
  const isOfUser = user === undefined || field === "token" || field === "model";
  if (field === undefined || isFiltered || !isOfUser) return undefined;
  if (interval === undefined) return { by: field, interval: undefined };
  return interval === "hour" || interval === "day" ? ({ by: field, interval } as const) : undefined;
}
