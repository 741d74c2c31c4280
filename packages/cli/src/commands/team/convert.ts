import { teamConversion, teamConvert, type Client, type ConversionBlock, type ConversionPlan } from "@fairway/wire";
import type { Reference } from "../../core/arguments.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { number, plain, quota } from "../../print/columns.ts";
import { printDone, printOne, type Output, type Shape } from "../../print/output.ts";
import { moneyText } from "../../print/sheet.ts";
import type { CommandContext } from "../../session/command-context.ts";
import { TEAMS } from "./team.ts";

const PLAN: Shape<ConversionPlan> = {
  kind: "ConversionPlan",
  columns: [
    number("USER", "user_id"),
    plain("NAME", "username"),
    quota("BALANCE", "quota"),
    quota("HELD", "held"),
    number("KEYS", "keys"),
    number("BUDGETS", "budgets"),
    number("WEBHOOKS", "webhooks"),
    { title: "GROUPS", value: ({ groups }) => groups.join(", ") },
    { title: "BLOCKED BY", value: ({ blocks }) => blocks.join(", ") || "nothing" },
  ],
  name: ({ user_id: id }) => `user/${id}`,
};

/** What to do about each obstacle. */
const CURES: Readonly<Record<ConversionBlock, string>> = {
  role: "demote the user",
  sign_in: "someone can sign in with it: move its keys with `fairway token move` instead",
  sessions: "wait for the end of its sessions",
  access_tokens: "delete its access tokens",
  memberships: "take it out of its teams",
  documents: "remove its documents",
  earnings: "move its invitation earnings to the balance",
};

export interface ConvertOptions {
  readonly name?: string;
  readonly slug?: string;
  readonly owner?: Reference;
  readonly plan?: boolean;
  readonly yes?: boolean;
}

interface Converting {
  readonly client: Client;
  readonly userId: number;
  readonly resolveId: CommandContext["resolveId"];
}

/** Makes a team of an account; `--plan` only says what would become of it. */
export async function convertAccount(
  { client, userId, resolveId }: Converting,
  { name, slug, owner, plan: isPlan, yes }: ConvertOptions,
  output: Output,
): Promise<void> {
  const { data: plan } = await client.call(teamConversion, { params: { user_id: userId } });
  if (isPlan) return printOne(output, plan, { shape: PLAN });
  const [block] = plan.blocks;
  if (block !== undefined)
    throw new CliError(`${plan.username} cannot become a team: ${plan.blocks.join(", ")}`, EXIT.conflict, CURES[block]);
  const holds = `${moneyText(plan.quota, await output.quotaPerUnit())}, ${plan.keys} keys and ${plan.budgets} budgets`;
  await output.confirm(`Convert the user ${plan.username} with ${holds} into a team`, 1, yes);
  const body = {
    user_id: userId,
    ...(name !== undefined && { name }),
    ...(slug !== undefined && { slug }),
    ...(owner !== undefined && { owner_id: await resolveId(owner) }),
  };
  const { data } = await client.call(teamConvert, { body });
  await printDone(output, data, `${plan.username} is team ${data.id}, ${data.slug}, now.`, TEAMS);
}
