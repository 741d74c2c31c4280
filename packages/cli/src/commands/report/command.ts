import { Option, type Command } from "commander";
import type { CommandContext } from "../../session/command-context.ts";
import { examples, withParts } from "../../core/arguments.ts";
import type { ReportOptions } from "./report.ts";

export function reportCommands(program: Command, { client, output, io }: CommandContext): void {
  const report = program
    .command("report")
    .alias("reports")
    .description("calls, tokens and spending of whole hours, as the console counts them, the most expensive first")
    .addOption(
      new Option("--by <what>", "the field to group by; user, channel and group for administrators")
        .choices(["user", "group", "token", "model", "channel"])
        .makeOptionMandatory(),
    )
    .option("--since <when>", "7d, 12h or a date; the hour in which it lies is counted from its beginning", "7d")
    .option("--until <when>", "like --since; without it until now")
    .option("--user <name>", "only calls of this user, by token or model; administrators only")
    .addOption(new Option("--interval <word>", "a row for each hour or day").choices(["hour", "day"]))
    .action(async (options: ReportOptions) =>
      (await import("./report.ts")).printReport(await client(), options, output(), io.nowSeconds()),
    );
  examples(
    withParts(report),
    "fairway report --by model --since 30d",
    "fairway report --by user --since 2026-10-01 --until 2026-11-01 -o csv > october.csv",
    "fairway report --by model --user ann --interval day -o jsonl",
  );
}
