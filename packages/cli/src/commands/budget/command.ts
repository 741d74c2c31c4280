import { BUDGET_PERIODS, BUDGET_SCOPES, MAX_BUDGET_HOURS } from "@fairway/wire";
import { InvalidArgumentError, Option, type Command } from "commander";
import type { CommandContext, TeamChoice } from "../../session/command-context.ts";
import { examples, id, ids, withTeam, yes, type Reference } from "../../core/arguments.ts";
import { parseDateSeconds } from "../../core/times.ts";
import type { BudgetListOptions } from "./budget.ts";
import type { BudgetCreateOptions, BudgetTerms } from "./changes.ts";

const load = () => import("./changes.ts");

/** Opens the budgets of the installation, or those inside the team that the options name. */
async function openOwner({ client, resolveTeam }: CommandContext, choice: TeamChoice) {
  return (await import("./owner.ts")).openBudgets(await client(), await resolveTeam(choice));
}

export function budgetCommands(program: Command, context: CommandContext): void {
  const { client, output, resolveTeam } = context;
  const budget = program
    .command("budget")
    .alias("budgets")
    .description("limits of spending in a window of time, or in all");
  const list = withTeam(budget.command("list"), "budgets")
    .description("oldest first; administrators see all, other users those of themselves and of their keys")
    .option("--mine", "only those of yourself and of your keys, for administrators too")
    .action(async (options: BudgetListOptions & TeamChoice) => {
      const chosen = { ...options, team: options.mine ? undefined : await resolveTeam(options) };
      return (await import("./budget.ts")).listBudgets(await client(), chosen, output());
    });
  examples(
    list,
    "fairway budget list",
    "fairway budget list --team research",
    "fairway budget list --mine -o jsonl | jq -r '.quota_limit - .used'",
  );
  const values = withTeam(budget.command("values"), "a budget")
    .argument("<id>", "id or name of a budget for each value, as `fairway budget list` shows it", id("budget"))
    .description("what each value of a budget such as app=* has used, most first: at most 100")
    .option("--keyword <text>", "only values with this in their names")
    .action(async (one: Reference, options: { readonly keyword?: string } & TeamChoice) => {
      const owner = await openOwner(context, options);
      return (await import("./budget.ts")).listValues(owner, await owner.resolve(one), options, output());
    });
  examples(values, "fairway budget values 3", "fairway budget values 3 --keyword shop -o json");
  changing(budget, context);
}

const AMOUNT = "what may be spent: 5usd or 500000";

function changing(budget: Command, context: CommandContext): void {
  creating(budget, context);
  const { output } = context;
  const update = withTerms(
    withTeam(budget.command("update"), "a budget")
      .argument("<id>", "id or name, as `fairway budget list` shows it", id("budget"))
      .description("change a budget; what was spent in its period stays")
      .option("--limit <amount>", AMOUNT),
  ).action(async (one: Reference, options: BudgetTerms & TeamChoice) => {
    const owner = await openOwner(context, options);
    return (await load()).updateBudget(owner, await owner.resolve(one), options, output());
  });
  examples(update, "fairway budget update 3 --limit 80usd", "fairway budget update ci --soft --notice 90");
  const reset = withTeam(budget.command("reset"), "a budget")
    .argument("<id>", "id or name, as `fairway budget list` shows it", id("budget"))
    .description("count from 0 again")
    .action(async (one: Reference, options: TeamChoice) => {
      const owner = await openOwner(context, options);
      return (await load()).resetBudget(owner, await owner.resolve(one), output());
    });
  examples(reset, "fairway budget reset 3");
  const remove = withTeam(budget.command("delete"), "budgets")
    .argument("<id...>", "ids or names, as `fairway budget list` shows them", ids("budget"))
    .description("delete budgets; what they limited is spent without them")
    .addOption(yes())
    .action(async (named: Reference[], options: TeamChoice & { yes?: boolean }) => {
      const owner = await openOwner(context, options);
      const chosen = await Promise.all(named.map((one) => owner.resolve(one, true)));
      return (await load()).deleteBudgets(owner, chosen, options, output());
    });
  examples(remove, "fairway budget delete 3 4 --yes");
}

function creating(budget: Command, { client, output, resolveId, resolveTeam }: CommandContext): void {
  const create = withTerms(
    budget
      .command("create")
      .description(
        "limit what a key, a tag or an end user of yours spends, a team and what is in it, or (administrators) anything",
      )
      .option("--token <id>", "id or name", id("token"))
      .option("--user <id>", "id or name", id("user"))
      .option("--channel <id>", "id or name", id("channel"))
      .option("--group <name>")
      .option("--model <name>", "as clients name it")
      .option(
        "--team <team>",
        "short name or id; with --member, --token, --service-account, --tag or --end-user only that one in the team",
        id("team"),
      )
      .option(
        "--member <user>",
        "what one member of the team spends with its keys, or each one (*); research:ann names the team too",
      )
      .option("--service-account <name>", "id or name of a service account of the team")
      .option(
        "--tag <key=value>",
        "what calls with a tag spend, such as app=shop, or with each value, app=*; of administrators ann/app=shop",
      )
      .option("--end-user <name>", "what one end user spends, such as 42, or each one (*); of administrators ann/42")
      .addOption(new Option("--scope <word>", "the same in one flag, with --subject").choices(BUDGET_SCOPES))
      .option("--subject <name>", "id, name, or team:user")
      .requiredOption("--limit <amount>", AMOUNT)
      .addOption(
        new Option("--period <word>", "how long it lasts; hours begin with the first request, others by the calendar")
          .choices(BUDGET_PERIODS)
          .makeOptionMandatory(),
      )
      .option("--filter-model <name>", "count only calls of this model, or of a beginning such as claude-*"),
  ).action(async (options: BudgetCreateOptions) =>
    (await load()).createBudget({ client: await client(), resolveId, resolveTeam }, options, output()),
  );
  examples(
    create,
    "fairway budget create --token ci --limit 50usd --period month",
    "fairway budget create --group trial --limit 5usd --period day --time-zone Europe/Berlin --soft",
    "fairway budget create --team research --member ann --limit 20usd --period month",
    "fairway budget create --scope member --subject research:ann --period hours --length 5 --limit 3usd --threshold 50,80,95",
    "fairway budget create --tag team:research/app=shop --limit 200usd --period month",
    "fairway budget create --team research --tag app=shop --limit 200usd --period month",
    "fairway budget create --end-user 'ann/*' --limit 5usd --period day",
    "fairway budget create --tag app=shop --limit 20usd --period month",
    "fairway budget create --team research --member '*' --limit 20usd --period month",
    "fairway budget create --user ann --limit 900usd --period quarter --anchor 04-06 --time-zone Europe/London",
  );
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
    .addOption(
      new Option("--threshold <percents>", "when notices are sent, once in each window: 50,80,95; none is never")
        .argParser(percents)
        .conflicts("notice"),
    )
    .option("--forecast", "send a notice when it is going to be spent before its window ends")
    .option("--no-forecast", "send none")
    .option("--time-zone <name>", "where days begin, such as Europe/Berlin")
    .option("--length <hours>", "how long a window of the period hours is: 1 to 720", hours)
    .option("--anchor <day>", "where a window begins: a week on 1 (Monday) to 7, a month on 1 to 31, others on MM-DD")
    .option("--ends-at <time>", "when a total budget ends, such as 2026-12-31T23:00:00Z; never", parseEnd);
}

function percents(text: string): number[] {
  const list = text === "none" ? [] : text.split(",").map((part) => (/^\d{1,3}$/.test(part.trim()) ? Number(part) : 0));
  if (list.some((one) => one < 1 || one > 200)) throw new InvalidArgumentError("They must be from 1 to 200: 50,80,95.");
  return list;
}

function hours(text: string): number {
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > MAX_BUDGET_HOURS)
    throw new InvalidArgumentError(`It must be from 1 to ${MAX_BUDGET_HOURS}.`);
  return count;
}

function parseEnd(text: string): number {
  if (text === "never") return 0;
  const at = parseDateSeconds(text);
  if (at === undefined) throw new InvalidArgumentError("It must be a time such as 2026-12-31T23:00:00Z, or never.");
  return at;
}

function percent(text: string): number {
  if (!/^\d{1,3}$/.test(text) || Number(text) > 100) throw new InvalidArgumentError("It must be from 0 to 100.");
  return Number(text);
}
