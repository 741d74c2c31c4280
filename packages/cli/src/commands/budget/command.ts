import { InvalidArgumentError, Option, type Command } from "commander";
import type { CommandContext } from "../../session/command-context.ts";
import { examples, id, ids, yes, type Reference } from "../../core/arguments.ts";
import type { BudgetListOptions } from "./budget.ts";
import type { BudgetCreateOptions, BudgetTerms } from "./changes.ts";

const load = () => import("./changes.ts");

export function budgetCommands(program: Command, context: CommandContext): void {
  const { client, output } = context;
  const budget = program.command("budget").alias("budgets").description("limits of spending for a day, week or month");
  const list = budget
    .command("list")
    .description("oldest first; administrators see all, other users those of themselves and of their keys")
    .option("--mine", "only those of yourself and of your keys, for administrators too")
    .action(async (options: BudgetListOptions) =>
      (await import("./budget.ts")).listBudgets(await client(), options, output()),
    );
  examples(list, "fairway budget list", "fairway budget list --mine -o jsonl | jq -r '.quota_limit - .used'");
  changing(budget, context);
}

const AMOUNT = "what may be spent: 5usd or 500000";

function changing(budget: Command, { client, output, resolveId, resolveIds }: CommandContext): void {
  const create = withTerms(
    budget
      .command("create")
      .description("limit what a key, user, group, model or channel spends (administrators)")
      .option("--token <id>", "id or name", id("token"))
      .option("--user <id>", "id or name", id("user"))
      .option("--channel <id>", "id or name", id("channel"))
      .option("--group <name>")
      .option("--model <name>", "as clients name it")
      .requiredOption("--limit <amount>", AMOUNT)
      .addOption(
        new Option("--period <word>", "how long it lasts, by the calendar; weeks begin on Monday")
          .choices(["day", "week", "month"])
          .makeOptionMandatory(),
      ),
  ).action(async (options: BudgetCreateOptions) =>
    (await load()).createBudget({ client: await client(), resolveId }, options, output()),
  );
  examples(
    create,
    "fairway budget create --token ci --limit 50usd --period month",
    "fairway budget create --group trial --limit 5usd --period day --time-zone Europe/Berlin --soft",
  );
  const update = withTerms(
    budget
      .command("update")
      .argument("<id>", "id or name, as `fairway budget list` shows it", id("budget"))
      .description("change a budget; what was spent in its period stays (administrators)")
      .option("--limit <amount>", AMOUNT),
  ).action(async (one: Reference, options: BudgetTerms) =>
    (await load()).updateBudget(await client(), await resolveId(one), options, output()),
  );
  examples(update, "fairway budget update 3 --limit 80usd", "fairway budget update ci --soft --notice 90");
  const remove = budget
    .command("delete")
    .argument("<id...>", "ids or names, as `fairway budget list` shows them", ids("budget"))
    .description("delete budgets; what they limited is spent without them (administrators)")
    .addOption(yes())
    .action(async (chosen: Reference[], options: { yes?: boolean }) =>
      (await load()).deleteBudgets(await client(), await resolveIds(chosen, true), options, output()),
    );
  examples(remove, "fairway budget delete 3 4 --yes");
}

function withTerms(command: Command): Command {
  return command
    .addOption(new Option("--hard", "refuse calls beyond it").conflicts("soft"))
    .addOption(new Option("--soft", "send notices, and refuse nothing"))
    .option(
      "--notice <percent>",
      "how much of it is spent when the super administrator gets a mail; 0 is never",
      percent,
    )
    .option("--time-zone <name>", "where days begin, such as Europe/Berlin");
}

function percent(text: string): number {
  if (!/^\d{1,3}$/.test(text) || Number(text) > 100) throw new InvalidArgumentError("It must be from 0 to 100.");
  return Number(text);
}
