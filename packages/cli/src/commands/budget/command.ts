import type { Command } from "commander";
import type { CommandContext } from "../../session/command-context.ts";
import { examples } from "../../core/arguments.ts";
import type { BudgetListOptions } from "./budget.ts";

const load = () => import("./budget.ts");

export function budgetCommands(program: Command, { client, output }: CommandContext): void {
  const budget = program.command("budget").alias("budgets").description("limits of spending for a day, week or month");
  const list = budget
    .command("list")
    .description("oldest first; administrators see all, other users those of themselves and of their keys")
    .option("--mine", "only those of yourself and of your keys, for administrators too")
    .action(async (options: BudgetListOptions) => (await load()).listBudgets(await client(), options, output()));
  examples(list, "fairway budget list", "fairway budget list --mine -o jsonl | jq -r '.quota_limit - .used'");
}
