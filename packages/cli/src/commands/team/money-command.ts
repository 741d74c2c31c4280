import type { Command } from "commander";
import { examples, id, withParts, type Reference } from "../../core/arguments.ts";
import type { CommandContext } from "../../session/command-context.ts";
import type { MoneyOptions } from "./money.ts";
import type { Part } from "../paging.ts";

const load = () => import("./money.ts");
const TEAM = "short name or id, as `fairway team list` shows it";
const AGAIN = "of an earlier try without an answer: the change then counts once";

export function moneyCommands(team: Command, context: CommandContext): void {
  moving(team, context);
  looking(team, context);
}

function moving(team: Command, { client, output, resolveId }: CommandContext): void {
  const transfer = team
    .command("transfer")
    .argument("<team>", TEAM, id("team"))
    .argument("<amount>", "5usd or 500000")
    .description("move an amount from your own balance to the wallet (owners)")
    .option("--idempotency-key <key>", AGAIN)
    .action(async (one: Reference, amount: string, options: MoneyOptions) =>
      (await load()).transfer(await client(), await resolveId(one), { ...options, amount }, output()),
    );
  examples(transfer, "fairway team transfer research 20usd");
  const adjust = team
    .command("adjust")
    .argument("<team>", TEAM, id("team"))
    .argument("<amount>", "5usd or 500000, with a - in front to take; write -- before that")
    .description("change the balance of the wallet (administrators)")
    .option("--note <text>", "why; it is in the log of the team")
    .option("--idempotency-key <key>", AGAIN)
    .action(async (one: Reference, amount: string, options: MoneyOptions) =>
      (await load()).adjust(await client(), await resolveId(one), { ...options, amount }, output()),
    );
  examples(
    adjust,
    "fairway team adjust research 100usd --note 'budget of October'",
    "fairway team adjust research -- -5usd",
  );
}

function looking(team: Command, { client, output, io, resolveId }: CommandContext): void {
  const budgets = team
    .command("budgets")
    .argument("<team>", TEAM, id("team"))
    .description("budgets of the team, its wallet, members, service accounts and keys")
    .action(async (one: Reference) => {
      const { listTeamBudgets } = await import("../budget/budget.ts");
      return listTeamBudgets(await client(), await resolveId(one), output());
    });
  examples(budgets, "fairway team budgets research");
  const keys = team
    .command("keys")
    .argument("<team>", TEAM, id("team"))
    .description("keys of a team, as `fairway token list --team`: all of them for admins, their own for members")
    .action(async (one: Reference, part: Part) => {
      const { openTokens } = await import("../token/owner.ts");
      const { listTokens } = await import("../token/token.ts");
      return listTokens(openTokens(await client(), await resolveId(one)), part, output());
    });
  examples(withParts(keys), "fairway team keys research");
  const usage = team
    .command("usage")
    .argument("<team>", TEAM, id("team"))
    .description("what the team spent, by member, the most expensive first; `fairway report --team` takes any fields")
    .option("--since <when>", "7d, 12h or a date", "30d")
    .option("--until <when>", "like --since; without it until now")
    .action(async (one: Reference, options: Part & { since: string; until?: string }) => {
      const { printUsage } = await import("../report/usage.ts");
      const ofTeam = await resolveId(one);
      return printUsage(await client(), { ...options, by: "actor", ofTeam }, output(), io.nowSeconds());
    });
  examples(withParts(usage), "fairway team usage research", "fairway team usage research --since 7d -o csv");
  const audit = team
    .command("audit")
    .argument("<team>", TEAM, id("team"))
    .description("who changed the team, its members and its keys, the latest first (admins)")
    .action(async (one: Reference, part: Part) =>
      (await load()).listAudit(await client(), await resolveId(one), part, output()),
    );
  examples(withParts(audit), "fairway team audit research");
}
