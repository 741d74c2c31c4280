import { BUDGET_PERIODS, listTokenFields, TOKEN_FIELDS, type TokenField } from "@fairway/wire";
import { InvalidArgumentError, Option, type Command } from "commander";
import type { TokenOwner } from "./owner.ts";
import type { SecretPlace } from "./secret.ts";
import type { TokenCreateOptions } from "./create.ts";
import type { TokenMoveOptions } from "./move.ts";
import type { TokenRotateOptions } from "./rotate.ts";
import type { TokenListOptions, TokenUpdateOptions } from "./token.ts";
import type { CommandContext, TeamChoice } from "../../session/command-context.ts";
import { examples, id, ids, positive, withParts, withTeam, yes, type Reference } from "../../core/arguments.ts";

const load = () => import("./token.ts");
const AS_LISTED = "ids or names, as `fairway token list` shows them";
const ONE = "id or name, as `fairway token list` shows it";

export function tokenCommands(program: Command, context: CommandContext): void {
  const token = program
    .command("token")
    .alias("tokens")
    .description("API keys of the signed-in user, or with --team those of a team");
  reading(token, context);
  writing(token, context);
  rotating(token, context);
  moving(token, context);
  switching(token, context);
}

/** Opens the keys of the user, or those of the team that the options name. */
async function openOwner({ client, resolveTeam }: CommandContext, choice: TeamChoice) {
  return (await import("./owner.ts")).openTokens(await client(), await resolveTeam(choice));
}

function reading(token: Command, context: CommandContext): void {
  const { client, output, io, resolveId } = context;
  const list = withTeam(token.command("list"), "keys")
    .description("newest first, without the keys themselves")
    .option("--search <text>", "part of the name, or a whole key")
    .option("--group <name>")
    .addOption(new Option("--status <word>").choices(["enabled", "disabled", "expired", "exhausted"]))
    .option("--expiring <span>", "only those that expire within 12h, 30d")
    .action(async (options: TokenListOptions & TeamChoice) =>
      (await load()).listTokens(await openOwner(context, options), options, output()),
    );
  examples(
    withParts(list),
    "fairway token list",
    "fairway token list --team research",
    "fairway token list --expiring 7d -o jsonl | jq .id",
  );
  const get = withTeam(token.command("get"), "a key")
    .argument("<id>", ONE, id("token"))
    .description("settings of one key; administrators name the key of a user by its id")
    .action(async (one: Reference, choice: TeamChoice) => {
      const owner = await openOwner(context, choice);
      return (await load()).getToken(owner, await owner.resolve(one), output());
    });
  examples(get, "fairway token get 3");
  const find = token
    .command("find")
    .argument("<key>", "a whole key, such as sk-…; `-` reads it from standard input", id("token"))
    .description("find whose key it is; administrators find those of all users whom they may see")
    .action(async (key: Reference) => {
      const { openTokens } = await import("./owner.ts");
      return (await load()).getToken(openTokens(await client(), undefined), await resolveId(key), output());
    });
  examples(find, "pass leaked | fairway token find -", "pass leaked | fairway token disable -");
  const key = withTeam(token.command("key"), "a key")
    .argument("<id>", ONE, id("token"))
    .description("print the key itself")
    .action(async (one: Reference, choice: TeamChoice) => {
      const owner = await openOwner(context, choice);
      return (await load()).printKey(owner, await owner.resolve(one), { output: output(), io });
    });
  examples(key, "OPENAI_API_KEY=$(fairway token key 3)");
}

/** Adds the flags of the fields of a token. */
function withFields(command: Command, isUpdate = false): Command {
  for (const name of listTokenFields("flag")) {
    const { flag }: TokenField = TOKEN_FIELDS[name];
    if (flag && (isUpdate || !flag.isOfUpdate)) command.option(`--${flag.name} ${flag.argument}`, flag.about);
  }
  return command;
}

function writing(token: Command, context: CommandContext): void {
  creating(token, context);
  updating(token, context);
}

function creating(token: Command, context: CommandContext): void {
  const { output, io } = context;
  const create = withTeam(token.command("create"), "a key")
    .description("create a key and print it")
    .requiredOption("--name <name>", "what it is for")
    .option("--quota <amount>", "5usd, 500000 or unlimited", "unlimited")
    .option("--limit <amount>", "with --period: what it may spend in each, 50usd; a budget that is made with the key")
    .addOption(new Option("--period <word>", "with --limit: by the calendar of UTC").choices(LIMIT_PERIODS))
    .option("--expires <when>", "never, 30d, 12h or a date", "never")
    .option("--service-account <name>", "id or name of the service account of the team that holds it (admins)")
    .option("--count <number>", "several at once, 100 at most, with -1, -2 and so on behind their names", several, 1)
    .option("--output-file <path>", "a new file for the keys, a line each, that only you can read")
    .option("--show-key", "with --output-file: print the keys too")
    .addOption(
      new Option(
        "--write-secret <namespace/name>",
        "write the key to a Kubernetes Secret, as its api-key, and print none",
      )
        .argParser(secretPlace)
        .conflicts(["outputFile", "showKey", "count"]),
    )
    .option("--replace-secret", "with --write-secret: also write to a Secret that others made")
    .option("--kube-context <name>", "with --write-secret: context of the kubeconfig")
    .action(async (options: TokenCreateOptions & TeamChoice) =>
      (await import("./create.ts")).createToken(await openOwner(context, options), options, output(), io.nowSeconds()),
    );
  examples(
    withFields(create),
    "fairway token create --name ci --quota 5usd --expires 30d",
    "fairway token create --name shop --limit 50usd --period month --models gpt-4o,gpt-4o-mini --allow-ip 203.0.113.0/24",
    "fairway token create --name ci --team research",
    "fairway token create --name bot --models gpt-4o-mini -o json | jq -r .key",
    "fairway token create --name search --write-secret ai/search-fairway",
  );
}

function updating(token: Command, context: CommandContext): void {
  const { output, io } = context;
  const update = withTeam(token.command("update"), "a key")
    .argument("<id>", ONE, id("token"))
    .description('change what the flags name; the rest stays, and "" takes a limit away')
    .option("--name <name>", "what it is for")
    .option("--quota <amount>", "what it has left: 5usd, 500000 or unlimited")
    .option("--expires <when>", "never, 30d, 12h or a date")
    .action(async (one: Reference, { team, ...options }: TokenUpdateOptions & TeamChoice) => {
      const owner = await openOwner(context, team === undefined ? {} : { team });
      return (await load()).updateToken(owner, await owner.resolve(one), options, {
        output: output(),
        nowSeconds: io.nowSeconds(),
      });
    });
  examples(
    withFields(update, true),
    "fairway token update 3 --quota 10usd --expires 90d",
    'fairway token update 3 --models ""',
  );
}

function rotating(token: Command, context: CommandContext): void {
  const { output, io } = context;
  const rotate = withTeam(token.command("rotate"), "a key")
    .argument("<id>", ONE, id("token"))
    .description(
      "give a token a new key and print it; the replaced key works for a grace; administrators name the key of a user by its id, and do not see the new one",
    )
    .option("--grace <span>", "12h, 7d, 30d at most; 0 ends it at once; 1d if absent, 0 for the key of another user")
    .action(async (one: Reference, options: TokenRotateOptions & TeamChoice) => {
      const owner = await openOwner(context, options);
      const { rotateToken } = await import("./rotate.ts");
      return rotateToken(owner, await owner.resolve(one), options, { output: output(), io });
    });
  examples(
    rotate,
    "fairway token rotate 3 --grace 7d",
    "fairway token rotate leaked --grace 0",
    "pass leaked | fairway token rotate -",
  );
}

function moving(token: Command, context: CommandContext): void {
  const { output, resolveId } = context;
  const move = withTeam(token.command("move"), "a key")
    .argument("<id>", ONE, id("token"))
    .description("give a key to a team or a person; its text works on, its id changes, and the new owner pays")
    .addOption(new Option("--to-team <team>", "short name or id").argParser(id("team")).conflicts("toUser"))
    .option("--to-user <user>", "id or name; owners of the team name themselves, administrators anyone", id("user"))
    .action(async (one: Reference, options: TokenMoveOptions & TeamChoice) => {
      const owner = await openOwner(context, options);
      const { moveToken } = await import("./move.ts");
      return moveToken(owner, await owner.resolve(one, true), options, { output: output(), resolveId });
    });
  examples(move, "fairway token move ci --to-team research", "fairway token move ci --team research --to-user 7");
}

/** Periods whose windows need nothing else to be known. */
const LIMIT_PERIODS = BUDGET_PERIODS.filter((period) => period !== "hours");

function secretPlace(text: string): SecretPlace {
  const [, namespace, name] =
    /^([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)\/([a-z0-9](?:[-.a-z0-9]*[a-z0-9])?)$/.exec(text) ?? [];
  if (namespace !== undefined && name !== undefined) return { namespace, name };
  throw new InvalidArgumentError("Write it like ai/search-fairway.");
}

function several(text: string): number {
  const value = positive(text);
  if (value > 100) throw new InvalidArgumentError("It must be 100 at most.");
  return value;
}

async function resolveAll(owner: TokenOwner, chosen: readonly Reference[], isExact = false): Promise<number[]> {
  const found: number[] = [];
  for (const one of chosen) found.push(await owner.resolve(one, isExact));
  return found;
}

function switching(token: Command, context: CommandContext): void {
  const { output } = context;
  for (const verb of ["enable", "disable"] as const) {
    const command = withTeam(token.command(verb), "keys")
      .argument("<id...>", AS_LISTED, ids("token"))
      .description(
        verb === "enable"
          ? "let keys be used again; administrators name those of users by their ids"
          : "refuse keys until they are enabled again; what an administrator disables, its owner cannot enable",
      )
      .action(async (chosen: Reference[], choice: TeamChoice) => {
        const owner = await openOwner(context, choice);
        return (await load()).switchTokens(owner, await resolveAll(owner, chosen), verb, output());
      });
    examples(command, `fairway token ${verb} 3 4`);
  }
  const remove = withTeam(token.command("delete"), "keys")
    .argument("<id...>", AS_LISTED, ids("token"))
    .description("delete keys; they stop working at once")
    .addOption(yes())
    .action(async (chosen: Reference[], options: TeamChoice & { yes?: boolean }) => {
      const owner = await openOwner(context, options);
      return (await load()).deleteTokens(owner, await resolveAll(owner, chosen, true), options, output());
    });
  examples(remove, "fairway token delete 3", "fairway token delete 3 4 --yes");
}
