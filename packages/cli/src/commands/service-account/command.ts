import { ACCESS_SCOPES, INSTALLATION_TEAM, type AccessScope } from "@fairway/wire";
import { InvalidArgumentError, Option, type Command } from "commander";
import { examples, list, withTeam, yes } from "../../core/arguments.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import type { CommandContext, TeamChoice } from "../../session/command-context.ts";
import type { Proof } from "../account/proof.ts";
import type { AccountTerms } from "./accounts.ts";
import type { ServiceTokenOptions } from "./tokens.ts";

const ONE = "id or name, as `fairway service-account list` shows it";
const load = () => import("./accounts.ts");
const loadTokens = () => import("./tokens.ts");

export function serviceAccountCommands(program: Command, context: CommandContext): void {
  const accounts = program
    .command("service-account")
    .alias("service-accounts")
    .description("holders of keys and access tokens that are no people, of a team or of the installation");
  managing(accounts, context);
  changing(accounts, context);
  const token = accounts
    .command("token")
    .description("access tokens with which a program manages the team or the installation");
  tokenCommands(token, context);
}

/** Whose service accounts a command is about. */
type OwnerChoice = TeamChoice & { readonly installation?: boolean };

function withOwner(command: Command, what: string): Command {
  const ofInstallation = new Option("--installation", `${what} of no team: programs that act as administrators`);
  return withTeam(command, what).addOption(ofInstallation.conflicts("team"));
}

async function requireTeam({ resolveTeam }: CommandContext, choice: OwnerChoice): Promise<number> {
  if (choice.installation) return INSTALLATION_TEAM;
  const team = await resolveTeam(choice);
  if (team === undefined)
    throw new CliError(
      "service accounts belong to a team or to the installation",
      EXIT.usage,
      "name the team with --team or `fairway team switch`, or add --installation",
    );
  return team;
}

function managing(accounts: Command, context: CommandContext): void {
  const { client, output } = context;
  const all = withOwner(accounts.command("list"), "those")
    .description("service accounts of a team or of the installation, by name")
    .action(async (choice: OwnerChoice) =>
      (await load()).listAccounts(await client(), await requireTeam(context, choice), output()),
    );
  examples(all, "fairway service-account list --team research");
  const create = withOwner(accounts.command("create"), "one")
    .description("make a service account; its keys are made with `fairway token create --service-account`")
    .requiredOption("--name <name>")
    .option("--description <text>", "what it is for")
    .action(async (options: OwnerChoice & AccountTerms & { name: string }) =>
      (await load()).createAccount(await client(), await requireTeam(context, options), options, output()),
    );
  examples(
    create,
    "fairway service-account create --team research --name ci",
    "fairway token create --team research --service-account ci --name nightly",
    "fairway service-account create --installation --name inventory",
  );
}

function changing(accounts: Command, context: CommandContext): void {
  const { client, output } = context;
  const update = withOwner(accounts.command("update"), "one")
    .argument("<account>", ONE)
    .description("change what the flags name; one that is disabled has no key and no access token that works")
    .option("--name <name>")
    .option("--description <text>", "what it is for")
    .addOption(new Option("--enable", "let its keys and access tokens be used again").conflicts("disable"))
    .addOption(new Option("--disable", "refuse its keys and access tokens"))
    .action(async (text: string, options: OwnerChoice & AccountTerms) =>
      (await load()).updateAccount(await client(), await requireTeam(context, options), { ...options, text }, output()),
    );
  examples(update, "fairway service-account update ci --team research --disable");
  const remove = withOwner(accounts.command("delete"), "those")
    .argument("<account...>", "ids or names, as `fairway service-account list` shows them")
    .description("delete service accounts: their keys and access tokens stop at once")
    .addOption(yes())
    .action(async (texts: string[], options: OwnerChoice & { yes?: boolean }) =>
      (await load()).deleteAccounts(
        await client(),
        await requireTeam(context, options),
        { ...options, texts },
        output(),
      ),
    );
  examples(remove, "fairway service-account delete ci --team research --yes");
}

function tokenCommands(token: Command, context: CommandContext): void {
  const { client, session, output } = context;
  const all = withOwner(token.command("list"), "one")
    .argument("<account>", ONE)
    .description("access tokens of a service account that have not expired, by name")
    .action(async (account: string, choice: OwnerChoice) =>
      (await loadTokens()).listTokens(await client(), { team: await requireTeam(context, choice), account }, output()),
    );
  examples(all, "fairway service-account token list ci --team research");
  const create = withProof(withOwner(token.command("create"), "one"))
    .argument("<account>", ONE)
    .description("make an access token and print it, once; your password is needed")
    .requiredOption("--name <name>", "what it is for; an earlier one of this name ends after --grace")
    .requiredOption("--scopes <list>", "comma list such as teams:read,events:read", scopes)
    .option("--expires <span>", "366d at most", "90d")
    .option("--grace <span>", "how long an earlier token of this name still works, such as 1d")
    .action(async (account: string, options: ServiceTokenOptions & OwnerChoice) =>
      (await loadTokens()).createToken(
        await session(),
        { team: await requireTeam(context, options), account },
        options,
        output(),
      ),
    );
  examples(
    create,
    "fairway service-account token create ci --team research --name deploy --scopes teams:write --grace 1d",
    "fairway service-account token create inventory --installation --name cmdb --scopes channels:read,users:read",
  );
  const remove = withProof(withOwner(token.command("delete"), "one"))
    .argument("<account>", ONE)
    .argument("<token>", "id or name, as `fairway service-account token list` shows it")
    .description("end an access token; your password is needed")
    .addOption(yes())
    .action(async (account: string, chosen: string, options: OwnerChoice & Proof & { yes?: boolean }) =>
      (await loadTokens()).deleteToken(
        await session(),
        { team: await requireTeam(context, options), account },
        { ...options, token: chosen },
        output(),
      ),
    );
  examples(remove, "fairway service-account token delete ci deploy --team research --yes");
}

function withProof(command: Command): Command {
  return command.option("--password-stdin", "read your password from standard input");
}

function scopes(text: string): readonly AccessScope[] {
  const words = list(text);
  const chosen = ACCESS_SCOPES.filter((scope) => words.includes(scope));
  if (chosen.length < new Set(words).size || chosen.length === 0)
    throw new InvalidArgumentError(`Write scopes such as teams:read; there are ${ACCESS_SCOPES.join(", ")}.`);
  return chosen;
}
