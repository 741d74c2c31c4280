import { Option, type Command } from "commander";
import type { RedemptionCreateOptions, RedemptionListOptions } from "./redemption.ts";
import type { CommandContext } from "../../session/command-context.ts";
import { examples, id, ids, positive, withParts, yes, type Reference } from "../../core/arguments.ts";

const load = () => import("./redemption.ts");
const ONE = "id or name, as `fairway redemption list` shows it";
const AS_LISTED = "ids or names, as `fairway redemption list` shows them";

export function redemptionCommands(program: Command, context: CommandContext): void {
  const redemption = program
    .command("redemption")
    .alias("redemptions")
    .alias("code")
    .description("codes that users turn into balance (administrators)");
  reading(redemption, context);
  writing(redemption, context);
}

function reading(redemption: Command, { client, output, resolveId }: CommandContext): void {
  const list = redemption
    .command("list")
    .description("newest first, without the codes themselves")
    .option("--search <text>", "an id or the start of a name")
    .addOption(new Option("--status <word>").choices(["unused", "disabled", "used"]))
    .action(async (options: RedemptionListOptions) =>
      (await load()).listRedemptions(await client(), options, output()),
    );
  examples(withParts(list), "fairway redemption list --status unused");
  const get = redemption
    .command("get")
    .argument("<id>", ONE, id("redemption"))
    .description("one code, without its secret")
    .action(async (one: Reference) => (await load()).getRedemption(await client(), await resolveId(one), output()));
  examples(get, "fairway redemption get 3");
  const code = redemption
    .command("code")
    .argument("<id>", ONE, id("redemption"))
    .description("print the code itself")
    .action(async (one: Reference) => (await load()).printCode(await client(), await resolveId(one), output()));
  examples(code, "fairway redemption code 3");
}

function writing(redemption: Command, { client, output, resolveIds }: CommandContext): void {
  const create = redemption
    .command("create")
    .description("make codes and print them, one a line")
    .requiredOption("--name <name>", "what they are for")
    .requiredOption("--quota <amount>", "value of each: 5usd or 500000")
    .option("--count <number>", "100 at most", positive, 1)
    .option("--output-file <path>", "a new file for the codes, a line each, that only you can read")
    .action(async (options: RedemptionCreateOptions) =>
      (await load()).createRedemptions(await client(), options, output()),
    );
  examples(create, "fairway redemption create --name spring --quota 5usd --count 20 > codes.txt");
  for (const verb of ["enable", "disable"] as const) {
    const command = redemption
      .command(verb)
      .argument("<id...>", AS_LISTED, ids("redemption"))
      .description(verb === "enable" ? "let codes be redeemed again" : "keep codes from being redeemed")
      .action(async (chosen: Reference[]) =>
        (await load()).switchRedemptions(await client(), await resolveIds(chosen), verb, output()),
      );
    examples(command, `fairway redemption ${verb} 3 4`);
  }
  const remove = redemption
    .command("delete")
    .argument("<id...>", AS_LISTED, ids("redemption"))
    .description("delete codes")
    .addOption(yes())
    .action(async (chosen: Reference[], options: { yes?: boolean }) =>
      (await load()).deleteRedemptions(await client(), await resolveIds(chosen, true), options, output()),
    );
  examples(remove, "fairway redemption delete 3 4 --yes");
}
