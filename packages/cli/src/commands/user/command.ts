import { Option, type Command } from "commander";
import type { UserCreateOptions, UserListOptions, UserQuotaOptions, UserUpdateOptions } from "./user.ts";
import type { CommandContext } from "../../session/command-context.ts";
import { examples, id, ids, withParts, yes, type Reference } from "../../core/arguments.ts";
import { TAG_LIMITS_ABOUT, TAG_LIMITS_FLAG } from "../../core/tag-limits.ts";

const load = () => import("./user.ts");
const ONE = "id or name, as `fairway user list` shows it";
const AS_LISTED = "ids or names, as `fairway user list` shows them";

export function userCommands(program: Command, context: CommandContext): void {
  const user = program.command("user").alias("users").description("accounts and their balances (administrators)");
  reading(user, context);
  writing(user, context);
  acting(user, context);
}

function reading(user: Command, { client, output, resolveId }: CommandContext): void {
  const list = user
    .command("list")
    .description("newest first")
    .option("--search <text>", "part of name, address or display name, or an id")
    .option("--group <name>")
    .addOption(new Option("--role <word>").choices(["user", "administrator", "super-administrator"]))
    .addOption(new Option("--status <word>").choices(["enabled", "disabled"]))
    .action(async (options: UserListOptions) => (await load()).listUsers(await client(), options, output()));
  examples(withParts(list), "fairway user list --search ann", "fairway user list --status disabled -o jsonl | jq .id");
  const get = user
    .command("get")
    .argument("<id>", ONE, id("user"))
    .description("one account")
    .action(async (one: Reference) => (await load()).getUser(await client(), await resolveId(one), output()));
  examples(get, "fairway user get 3");
}

function writing(user: Command, { client, output, session, resolveId }: CommandContext): void {
  const create = user
    .command("create")
    .description("create an account; its password is asked for")
    .requiredOption("--username <name>")
    .option("--display-name <name>")
    .option("--admin", "an administrator")
    .option("--password-stdin", "read the password from standard input")
    .action(async (options: UserCreateOptions) => (await load()).createUser(await client(), options, output()));
  examples(create, "pass ann | fairway user create --username ann --password-stdin");
  const update = user
    .command("update")
    .argument("<id>", ONE, id("user"))
    .description("change what the flags name; the rest stays")
    .option("--username <name>")
    .option("--display-name <name>")
    .option("--group <name>")
    .option(TAG_LIMITS_FLAG, TAG_LIMITS_ABOUT)
    .action(async (one: Reference, options: UserUpdateOptions) =>
      (await load()).updateUser(await client(), await resolveId(one), options, output()),
    );
  examples(update, "fairway user update 3 --group vip");
  const password = user
    .command("passwd")
    .argument("<id>", ONE, id("user"))
    .description("set a new password; it and your own are asked for")
    .option("--password-stdin", "read your own password and the new one from standard input, a line each")
    .action(async (one: Reference, options: { passwordStdin?: boolean }) =>
      (await load()).setPassword(await session(), await resolveId(one), options, output()),
    );
  examples(password, "fairway user passwd 3");
}

function acting(user: Command, { client, output, resolveId, resolveIds }: CommandContext): void {
  const verbs = {
    enable: "let accounts be used again",
    disable: "lock accounts out, with their keys",
    promote: "make users administrators (super administrator)",
    demote: "make administrators users (super administrator)",
  } as const;
  for (const verb of ["enable", "disable", "promote", "demote"] as const) {
    const command = user
      .command(verb)
      .argument("<id...>", AS_LISTED, ids("user"))
      .description(verbs[verb])
      .action(async (chosen: Reference[]) =>
        (await load()).manageUsers(await client(), await resolveIds(chosen), verb, output()),
      );
    examples(command, `fairway user ${verb} 3`);
  }
  const quota = user
    .command("quota")
    .argument("<id>", ONE, id("user"))
    .description("move a balance, or set it")
    .addOption(new Option("--add <amount>", "5usd or 500000").conflicts(["sub", "set"]))
    .addOption(new Option("--sub <amount>", "5usd or 500000").conflicts("set"))
    .option("--set <amount>", "5usd or 500000")
    .option("--idempotency-key <key>", "of an earlier try without an answer: the change then counts once")
    .action(async (one: Reference, options: UserQuotaOptions) =>
      (await load()).moveQuota(await client(), await resolveId(one), options, output()),
    );
  examples(
    quota,
    "fairway user quota 3 --add 5usd",
    "fairway user quota 3 --add 5usd --idempotency-key invoice-2026-117",
  );
  const remove = user
    .command("delete")
    .argument("<id...>", AS_LISTED, ids("user"))
    .description("delete accounts for good, with their keys; their logs stay")
    .addOption(yes())
    .action(async (chosen: Reference[], options: { yes?: boolean }) =>
      (await load()).deleteUsers(await client(), await resolveIds(chosen, true), options, output()),
    );
  examples(remove, "fairway user delete 3");
}
