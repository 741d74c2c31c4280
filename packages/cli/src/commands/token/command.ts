import { InvalidArgumentError, Option, type Command } from "commander";
import type { SecretPlace } from "./secret.ts";
import type { TokenCreateOptions } from "./create.ts";
import type { TokenListOptions, TokenUpdateOptions } from "./token.ts";
import type { CommandContext } from "../../session/command-context.ts";
import { examples, id, ids, positive, withParts, yes, type Reference } from "../../core/arguments.ts";

const load = () => import("./token.ts");
const AS_LISTED = "ids or names, as `fairway token list` shows them";
const ONE = "id or name, as `fairway token list` shows it";

export function tokenCommands(program: Command, context: CommandContext): void {
  const token = program.command("token").alias("tokens").description("API keys of the signed-in user");
  reading(token, context);
  writing(token, context);
  switching(token, context);
}

function reading(token: Command, { client, output, io, resolveId }: CommandContext): void {
  const list = token
    .command("list")
    .description("newest first, without the keys themselves")
    .option("--search <text>", "part of the name, or a whole key")
    .option("--group <name>")
    .addOption(new Option("--status <word>").choices(["enabled", "disabled", "expired", "exhausted"]))
    .option("--expiring <span>", "only those that expire within 12h, 30d")
    .action(async (options: TokenListOptions) => (await load()).listTokens(await client(), options, output()));
  examples(withParts(list), "fairway token list", "fairway token list --expiring 7d -o jsonl | jq .id");
  const get = token
    .command("get")
    .argument("<id>", ONE, id("token"))
    .description("settings of one key; administrators name the key of a user by its id")
    .action(async (one: Reference) => (await load()).getToken(await client(), await resolveId(one), output()));
  examples(get, "fairway token get 3");
  const find = token
    .command("find")
    .argument("<key>", "a whole key, such as sk-…; `-` reads it from standard input", id("token"))
    .description("find whose key it is; administrators find those of all users whom they may see")
    .action(async (key: Reference) => (await load()).getToken(await client(), await resolveId(key), output()));
  examples(find, "pass leaked | fairway token find -", "pass leaked | fairway token disable -");
  const key = token
    .command("key")
    .argument("<id>", ONE, id("token"))
    .description("print the key itself")
    .action(async (one: Reference) =>
      (await load()).printKey(await client(), await resolveId(one), { output: output(), io }),
    );
  examples(key, "OPENAI_API_KEY=$(fairway token key 3)");
}

function withLimits(command: Command): Command {
  return command
    .option("--models <list>", "comma list of the only models that it may use")
    .option("--group <name>", "group whose channels and prices it uses")
    .option("--fallbacks <list>", "comma list of models that serve in place of one that fails, off, or inherit")
    .option("--allow-ip <network...>", "addresses or networks that may use it");
}

function writing(token: Command, { client, output, io, resolveId }: CommandContext): void {
  const create = token
    .command("create")
    .description("create a key and print it")
    .requiredOption("--name <name>", "what it is for")
    .option("--quota <amount>", "5usd, 500000 or unlimited", "unlimited")
    .option("--expires <when>", "never, 30d, 12h or a date", "never")
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
    .action(async (options: TokenCreateOptions) =>
      (await import("./create.ts")).createToken(await client(), options, output(), io.nowSeconds()),
    );
  examples(
    withLimits(create),
    "fairway token create --name ci --quota 5usd --expires 30d",
    "fairway token create --name bot --models gpt-4o-mini -o json | jq -r .key",
    "fairway token create --name search --write-secret ai/search-fairway",
  );
  const update = token
    .command("update")
    .argument("<id>", ONE, id("token"))
    .description('change what the flags name; the rest stays, and "" takes a limit away')
    .option("--name <name>", "what it is for")
    .option("--quota <amount>", "what it has left: 5usd, 500000 or unlimited")
    .option("--expires <when>", "never, 30d, 12h or a date")
    .action(async (one: Reference, options: TokenUpdateOptions) =>
      (await load()).updateToken(await client(), await resolveId(one), options, {
        output: output(),
        nowSeconds: io.nowSeconds(),
      }),
    );
  examples(
    withLimits(update),
    "fairway token update 3 --quota 10usd --expires 90d",
    'fairway token update 3 --models ""',
  );
}

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

function switching(token: Command, { client, output, resolveIds }: CommandContext): void {
  for (const verb of ["enable", "disable"] as const) {
    const command = token
      .command(verb)
      .argument("<id...>", AS_LISTED, ids("token"))
      .description(
        verb === "enable"
          ? "let keys be used again; administrators name those of users by their ids"
          : "refuse keys until they are enabled again; what an administrator disables, its owner cannot enable",
      )
      .action(async (chosen: Reference[]) =>
        (await load()).switchTokens(await client(), await resolveIds(chosen), verb, output()),
      );
    examples(command, `fairway token ${verb} 3 4`);
  }
  const remove = token
    .command("delete")
    .argument("<id...>", AS_LISTED, ids("token"))
    .description("delete keys; they stop working at once")
    .addOption(yes())
    .action(async (chosen: Reference[], options: { yes?: boolean }) =>
      (await load()).deleteTokens(await client(), await resolveIds(chosen, true), options, output()),
    );
  examples(remove, "fairway token delete 3", "fairway token delete 3 4 --yes");
}
