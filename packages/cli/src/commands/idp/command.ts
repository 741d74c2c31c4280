import { InvalidArgumentError, Option, type Command } from "commander";
import { count, examples, list, yes } from "../../core/arguments.ts";
import type { CommandContext } from "../../session/command-context.ts";
import type { Proof } from "../account/proof.ts";
import type { ProviderCreateOptions, ProviderTerms, ScimTokenOptions } from "./change-provider.ts";
import type { ProviderTestOptions } from "./test-provider.ts";

const ONE = "id or slug, as `fairway idp list` shows it";
const METHODS = ["client_secret_post", "client_secret_basic", "private_key_jwt", "none"];

export function idpCommands(program: Command, context: CommandContext): void {
  const idp = program
    .command("idp")
    .description("identity providers with which people of companies sign in (super administrator)");
  reading(idp, context);
  writing(idp, context);
}

const load = () => import("./provider.ts");
const loadChanges = () => import("./change-provider.ts");

function reading(idp: Command, { client, output }: CommandContext): void {
  const all = idp
    .command("list")
    .description("all identity providers, oldest first")
    .action(async () => (await load()).listProviders(await client(), output()));
  examples(all, "fairway idp list -o wide");
  const get = idp
    .command("get")
    .argument("<provider>", ONE)
    .description("one identity provider with its rules, without its secret")
    .action(async (one: string) => (await load()).getProvider(await client(), one, output()));
  examples(get, "fairway idp get acme -o json");
  const test = idp
    .command("test")
    .argument("<provider>", ONE)
    .description("check at the provider what a sign-in needs, and say what claims would give")
    .option("--claims-file <path>", "file with claims of a person, as JSON")
    .addOption(new Option("--claims-stdin", "read the claims from standard input").conflicts("claimsFile"))
    .action(async (one: string, options: ProviderTestOptions) =>
      (await import("./test-provider.ts")).testProvider(await client(), one, options, output()),
    );
  examples(test, "fairway idp test acme", "fairway idp test acme --claims-file claims.json");
}

function writing(idp: Command, { session, output }: CommandContext): void {
  const create = withTerms(
    idp
      .command("create")
      .description("add an identity provider; your password is needed")
      .requiredOption("--slug <slug>", "part of its addresses, for good, such as acme")
      .requiredOption("--name <name>", "what its button on the sign-in page says")
      .requiredOption("--issuer <address>", "the issuer, as its discovery document writes it")
      .requiredOption("--client-id <id>", "id of the gateway at the provider"),
  ).action(async (options: ProviderCreateOptions) =>
    (await loadChanges()).createProvider(await session(), options, output()),
  );
  examples(
    create,
    "fairway idp create --slug acme --name Acme --issuer https://acme.okta.com --client-id 0oa1 --secret-file secret.txt --domains acme.example",
  );
  const update = withTerms(
    idp
      .command("update")
      .argument("<provider>", ONE)
      .description("change an identity provider; your password is needed")
      .option("--name <name>", "what its button on the sign-in page says")
      .option("--issuer <address>", "the issuer, as its discovery document writes it")
      .option("--client-id <id>", "id of the gateway at the provider")
      .addOption(new Option("--enable", "let people sign in with it").conflicts("disable"))
      .addOption(new Option("--disable", "let no one sign in with it")),
  ).action(async (one: string, options: ProviderTerms) =>
    (await loadChanges()).updateProvider(await session(), one, options, output()),
  );
  examples(
    update,
    "fairway idp update acme --enforced --exempt 1",
    "fairway idp update acme --mapping-file rules.json",
  );
  const token = withProof(
    idp
      .command("scim-token")
      .argument("<provider>", ONE)
      .description("make a token for the company's directory and print it, once; the one before stays valid")
      .option("--end", "end all tokens instead"),
  ).action(async (one: string, options: ScimTokenOptions) =>
    (await loadChanges()).changeScimToken(await session(), one, options, output()),
  );
  examples(token, "fairway idp scim-token acme > token.txt", "fairway idp scim-token acme --end");
  const remove = withProof(
    idp
      .command("delete")
      .argument("<provider...>", ONE)
      .description("delete identity providers with their links to accounts; the accounts stay"),
  )
    .addOption(yes())
    .action(async (chosen: string[], options: Proof & { yes?: boolean }) =>
      (await loadChanges()).deleteProviders(await session(), chosen, options, output()),
    );
  examples(remove, "fairway idp delete acme");
}

function withProof(command: Command): Command {
  return command.option("--password-stdin", "read your password from standard input");
}

function withTerms(command: Command): Command {
  return withProof(command)
    .option("--secret-file <path>", "file with the client secret, or with the private key")
    .addOption(new Option("--auth-method <word>", "how the gateway proves that it is the client").choices(METHODS))
    .option("--scopes <scopes>", "what is requested, separated by spaces")
    .option("--allow-http", "allow addresses without encryption")
    .option("--no-allow-http", "refuse them")
    .option("--domains <domains>", "mail domains of the company, separated by commas", list)
    .option("--vouches-for-email", "its addresses are true without proof")
    .option("--no-vouches-for-email", "its addresses need a proof")
    .addOption(new Option("--jit <word>", "who comes for the first time").choices(["off", "create", "link"]))
    .option("--mapping-file <path>", "file with the list of rules, as JSON")
    .addOption(new Option("--mfa <word>", "whose second factor counts").choices(["own", "provider"]))
    .option("--acr <values>", "values of acr that count as one, separated by commas", list)
    .option("--enforced", "the only way in for people of the company")
    .option("--no-enforced", "they may sign in another way too")
    .option("--exempt <ids>", "ids of up to five accounts that may even so, separated by commas", parseIds)
    .option("--session-hours <number>", "when sessions end; 0 = as all others", count)
    .option("--idle-minutes <number>", "when unused sessions end; 0 = as all others", count)
    .option("--reauth", "changes of credentials need a proof at the provider")
    .option("--no-reauth", "they do not")
    .option("--logout", "signing out leads to the page of the provider for it")
    .option("--no-logout", "it does not")
    .option("--scim-match <claim>", "the claim that equals externalId of the directory");
}

function parseIds(text: string): number[] {
  const ids = list(text).map(Number);
  if (ids.some((id) => !Number.isSafeInteger(id) || id < 1))
    throw new InvalidArgumentError("Write ids separated by commas, such as 1,42.");
  return ids;
}
