import { Option, type Command } from "commander";
import { examples, id, withParts, yes, type Reference } from "../../core/arguments.ts";
import type { CommandContext } from "../../session/command-context.ts";
import { memberCommands } from "./member-command.ts";
import { moneyCommands } from "./money-command.ts";
import { withSettings } from "./settings.ts";
import type { TeamCreateOptions, TeamUpdateOptions } from "./changes.ts";
import type { ConvertOptions } from "./convert.ts";
import type { TeamListOptions } from "./team.ts";

const load = () => import("./team.ts");
const loadChanges = () => import("./changes.ts");
const ONE_TEAM = "short name or id, as `fairway team list` shows it";

export function teamCommands(program: Command, context: CommandContext): void {
  const team = program.command("team").alias("teams").description("teams with a shared wallet: members, keys, money");
  reading(team, context);
  writing(team, context);
  removing(team, context);
  converting(team, context);
  memberCommands(team, context);
  moneyCommands(team, context);
  choosing(team, context);
}

function reading(team: Command, { client, output, resolveId }: CommandContext): void {
  const list = team
    .command("list")
    .description("by name; administrators see all teams, others their own")
    .option("--search <text>", "part of the name or short name")
    .option("--label <pair>", "only teams with this label, such as cost_centre=4711")
    .option("--mine", "only teams that you are a member of")
    .action(async (options: TeamListOptions) => (await load()).listTeams(await client(), options, output()));
  examples(withParts(list), "fairway team list --mine", "fairway team list --label cost_centre=4711 -o csv");
  const get = team
    .command("get")
    .argument("<team>", ONE_TEAM, id("team"))
    .description("one team, with its settings")
    .action(async (one: Reference) => (await load()).getTeam(await client(), await resolveId(one), output()));
  examples(get, "fairway team get research");
}

function writing(team: Command, { client, output, resolveId }: CommandContext): void {
  const create = withSettings(
    team
      .command("create")
      .description("create a team with its wallet; you own it unless --owner names another")
      .requiredOption("--name <name>")
      .option("--slug <name>", "short name in addresses and commands; without it made from the name")
      .addOption(new Option("--owner <user>", "id or name; administrators only").argParser(id("user"))),
  ).action(async (options: TeamCreateOptions) =>
    (await loadChanges()).createTeam({ client: await client(), resolveId }, options, output()),
  );
  examples(
    create,
    "fairway team create --name Research --owner ann --label cost_centre=4711",
    "fairway team create --name Shop --models gpt-4o-mini,claude-* --rpm 600",
  );
  const update = withSettings(
    team
      .command("update")
      .argument("<team>", ONE_TEAM, id("team"))
      .description('change what the flags name; the rest stays, and "" empties a list')
      .option("--name <name>")
      .option("--group <name>", "group of the wallet; administrators only")
      .addOption(new Option("--enable", "let the keys of the team be used again").conflicts("disable"))
      .addOption(new Option("--disable", "refuse every key of the team")),
  ).action(async (one: Reference, options: TeamUpdateOptions) =>
    (await loadChanges()).updateTeam(await client(), await resolveId(one), options, output()),
  );
  examples(
    update,
    "fairway team update research --models gpt-4o-mini --max-key-days 90",
    "fairway team update research --disable",
  );
}

function removing(team: Command, { client, output, resolveId, resolveIds }: CommandContext): void {
  const remove = team
    .command("delete")
    .argument("<team>", ONE_TEAM, id("team"))
    .description("delete a team: its keys stop at once, its balance and its log stay")
    .addOption(yes())
    .action(async (one: Reference, options: { yes?: boolean }) => {
      const [chosen = 0] = await resolveIds([one], true);
      return (await loadChanges()).deleteTeam(await client(), chosen, options, output());
    });
  examples(remove, "fairway team delete research", "fairway team delete research --yes");
  const restore = team
    .command("restore")
    .argument("<id>", "id of a deleted team, as its deletion prints it", id("team"))
    .description("bring a deleted team back with its members and keys (administrators)")
    .action(async (one: Reference) =>
      (await loadChanges()).restoreTeam(await client(), await resolveId(one), output()),
    );
  examples(restore, "fairway team restore 4");
}

function converting(team: Command, { client, output, resolveId }: CommandContext): void {
  const convert = team
    .command("convert")
    .argument("<user>", "id or name of an account with which no one signs in", id("user"))
    .description("make a team of an account: it keeps balance, keys, budgets and log (super administrator)")
    .option("--name <name>", "name of the team; without it that of the account")
    .option("--slug <name>", "short name in addresses and commands; without it made from the name")
    .addOption(new Option("--owner <user>", "id or name; without it you own the team").argParser(id("user")))
    .option("--plan", "only say what would become of the account, and what prevents it")
    .addOption(yes())
    .action(async (one: Reference, options: ConvertOptions) => {
      const converted = { client: await client(), userId: await resolveId(one), resolveId };
      return (await import("./convert.ts")).convertAccount(converted, options, output());
    });
  examples(convert, "fairway team convert legacy-research --plan", "fairway team convert legacy-research --owner ann");
}

function choosing(team: Command, { client, output, env, resolveId }: CommandContext): void {
  const choose = team
    .command("switch")
    .argument("<team>", `${ONE_TEAM}; none ends it`, id("team"))
    .description("let commands that take --team use this team in the current context")
    .action(async (one: Reference) =>
      (await import("./switch.ts")).switchTeam({ client: await client(), env: env(), resolveId }, one, output()),
    );
  examples(choose, "fairway team switch research", "fairway team switch none");
}
