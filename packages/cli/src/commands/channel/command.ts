import { CHANNEL_FIELDS, listChannelFields, type ChannelField } from "@fairway/wire";
import { InvalidArgumentError, Option, type Command } from "commander";
import type { ChannelBalanceOptions, ChannelTestOptions } from "./checks.ts";
import type { ChannelCreateOptions, ChannelUpdateOptions, SwitchOptions } from "./changes.ts";
import type { KeyOptions } from "./keys.ts";
import type { PauseOptions } from "./pauses.ts";
import type { ChannelListOptions } from "./channel.ts";
import type { CommandContext } from "../../session/command-context.ts";
import {
  decimal,
  examples,
  id,
  ids,
  integer,
  positive,
  seconds,
  withParts,
  yes,
  type Reference,
} from "../../core/arguments.ts";

const AS_LISTED = "ids or names, as `fairway channel list` shows them";

export function channelCommands(program: Command, context: CommandContext): void {
  const channel = program
    .command("channel")
    .alias("channels")
    .alias("ch")
    .description("upstream providers (administrators)");
  reading(channel, context);
  creating(channel, context);
  changing(channel, context);
  editing(channel, context);
  switching(channel, context);
  pausing(channel, context);
  checking(channel, context);
  deleting(channel, context);
}

function reading(channel: Command, { client, output, resolveId }: CommandContext): void {
  const load = () => import("./channel.ts");
  const list = channel
    .command("list")
    .description("best priority first")
    .option("--search <text>", "id, name or exact key")
    .option("--group <name>")
    .option("--model <name>")
    .option("--tag <name>")
    .option("--type <type>", "its name or number; see `fairway channel types`")
    .addOption(new Option("--status <word>").choices(["enabled", "disabled", "auto-disabled", "auto"]))
    .action(async (options: ChannelListOptions) => (await load()).listChannels(await client(), options, output()));
  examples(withParts(list), "fairway channel list --status auto-disabled", "fairway channel list -o jsonl | jq .id");
  const get = channel
    .command("get")
    .argument("<id>", "id or name, as `fairway channel list` shows it", id("channel"))
    .description("settings of one channel, and who manages it")
    .action(async (one: Reference) => (await load()).getChannel(await client(), await resolveId(one), output()));
  examples(get, "fairway channel get 3", "fairway channel get 3 -o json | jq .models");
  const describe = channel
    .command("describe")
    .argument("<id>", "id or name, as `fairway channel list` shows it", id("channel"))
    .description("the same with the state of its keys and its latest failed calls")
    .action(async (one: Reference) =>
      (await import("./describe.ts")).describeChannel(await client(), await resolveId(one), output()),
    );
  examples(describe, "fairway channel describe 3", "fairway channel describe 3 -o json | jq .latest_failures");
  const types = channel
    .command("types")
    .description("kinds of upstream that a channel may have, with their numbers")
    .action(async () => (await load()).listTypes(await client(), output()));
  examples(types, "fairway channel types");
}

/** Readers of the values of flags, by the kind of their field. */
const READERS: Partial<Record<ChannelField["kind"], (text: string) => number>> = { whole: integer, decimal };

function withSettings(command: Command): Command {
  for (const name of listChannelFields("flag")) {
    const { kind, flag }: ChannelField = CHANNEL_FIELDS[name];
    const option = new Option(`--${name.replaceAll("_", "-")} ${flag?.argument}`, flag?.about);
    const reader = READERS[kind];
    command.addOption(reader ? option.argParser(reader) : option);
  }
  return command
    .option("--no-auto-ban", "never disable the channel automatically")
    .option("--key-file <path>", "file that holds the key; of several, one a line, `create` makes several channels")
    .addOption(
      new Option("--key-stdin", "read the key from standard input; asked for in a terminal").conflicts("keyFile"),
    );
}

function creating(channel: Command, { client, output, resolveId }: CommandContext): void {
  const create = channel
    .command("create")
    .description("connect a provider")
    .requiredOption("--type <type>", "its name or number, such as openai; see `fairway channel types`")
    .requiredOption("--name <name>")
    .requiredOption("--models <list>", "comma list")
    .option("--group <list>", "comma list", "default")
    .option("--multi-key", "keep several keys, one a line, together in one channel instead of making several")
    .addOption(new Option("--split-keys", "create one channel per line of the key (default)").conflicts("multiKey"))
    .action(async (options: ChannelCreateOptions) =>
      (await import("./changes.ts")).createChannel(await client(), options, output()),
    );
  examples(
    withSettings(create),
    "fairway channel create --type openai --name openai --models gpt-4o --key-file openai.key",
    "pass openai | fairway channel create --type openai --name openai --models gpt-4o --key-stdin -o json",
  );
  const copy = channel
    .command("copy")
    .argument("<id>", "id or name, as `fairway channel list` shows it", id("channel"))
    .description("make another one with the same settings and key")
    .action(async (one: Reference) =>
      (await import("./changes.ts")).copyChannel(await client(), await resolveId(one), output()),
    );
  examples(copy, "fairway channel copy 3 -o json | jq .id");
}

function changing(channel: Command, { client, output, resolveId }: CommandContext): void {
  const update = channel
    .command("update")
    .argument("<id>", "id or name, as `fairway channel list` shows it", id("channel"))
    .description("change what the flags name; the rest stays")
    .option("--name <name>")
    .option("--type <type>", "its name or number; see `fairway channel types`")
    .option("--group <list>", "comma list")
    .addOption(new Option("--models <list>", "comma list, instead of all").conflicts(["addModel", "removeModel"]))
    .option("--add-model <name...>", "in addition to the others")
    .option("--remove-model <name...>", "from the others")
    .option("--auto-ban", "switch it off when its upstream refuses it for good")
    .option("--if-match <tag>", "only if the channel is still at this version: the ETag of `fairway api --include`")
    .action(async (one: Reference, options: ChannelUpdateOptions) =>
      (await import("./changes.ts")).updateChannel(await client(), await resolveId(one), options, output()),
    );
  examples(
    withSettings(update),
    "fairway channel update 3 --priority 10 --add-model gpt-4o-mini",
    "fairway channel update 3 --key-file new.key",
  );
  const models = channel
    .command("models")
    .argument("<id>", "id or name, as `fairway channel list` shows it", id("channel"))
    .description("models that its upstream offers")
    .option("--fetch", "ask the upstream, as without it")
    .option("--set", "make them the models of the channel")
    .option("--set-from-fetch", "as --set")
    .action(async (one: Reference, { set, setFromFetch }: { set?: boolean; setFromFetch?: boolean }) =>
      (await import("./checks.ts")).offeredModels(
        await client(),
        await resolveId(one),
        { set: set === true || setFromFetch === true },
        output(),
      ),
    );
  examples(models, "fairway channel models 3", "fairway channel models 3 --set");
}

function editing(channel: Command, { client, output, io, resolveId }: CommandContext): void {
  const edit = channel
    .command("edit")
    .argument("<id>", "id or name, as `fairway channel list` shows it", id("channel"))
    .description("edit a channel in $EDITOR; shows the diff, then prompts for confirmation")
    .action(async (one: Reference) =>
      (await import("./edit.ts")).editChannel(await client(), await resolveId(one), { output: output(), io }),
    );
  examples(edit, "EDITOR=nano fairway channel edit 3");
}

function switching(channel: Command, context: CommandContext): void {
  const { client, output, resolveIds } = context;
  for (const verb of ["enable", "disable"] as const) {
    const command = channel
      .command(verb)
      .argument("[id...]", AS_LISTED, ids("channel"))
      .description(`switch channels ${verb === "enable" ? "on" : "off"}`)
      .option(
        "--search <text>",
        "instead of ids: all that `fairway channel list --search` finds; asks with their number",
      )
      .option(
        "--selector <filter>",
        "instead of ids: those with all of these, of group, model, tag, type and status, such as tag=eu,type=openai",
      )
      .addOption(yes())
      .action(async (chosen: Reference[] | undefined, options: SwitchOptions) =>
        (await import("./changes.ts")).switchChannels(
          await client(),
          { ids: await resolveIds(chosen), ...options },
          verb,
          output(),
        ),
      );
    const lines = [`fairway channel ${verb} 3 4`, `fairway channel ${verb} --search azure --yes`];
    if (verb === "disable") {
      command
        .option("--for <span>", "enable them again after that time, such as 1h; at most 30 days", seconds("1h"))
        .option("--reason <text>", "why, as the channel shows it");
      lines.push("fairway channel disable azure --for 1h --reason maintenance");
    }
    examples(command, ...lines);
  }
  managingKeys(channel, context);
}

/** Actions on single keys; a call has one of them. */
const KEY_ACTIONS = ["enable", "disable", "test", "remove", "keyFile", "keyStdin"];

function keyAction(flags: string, about: string): Option {
  const option = new Option(flags, about);
  const name = option.attributeName();
  return option.conflicts(KEY_ACTIONS.filter((other) => other !== name));
}

function managingKeys(channel: Command, { client, output, resolveId }: CommandContext): void {
  const keys = channel
    .command("keys")
    .argument("<id>", "id or name, as `fairway channel list` shows it", id("channel"))
    .description("the keys of a channel that has several: their last letters and whether they are in use")
    .addOption(keyAction("--enable <number>", "switch that key on; the first is 1").argParser(positive))
    .addOption(keyAction("--disable <number>", "switch that key off; the first is 1").argParser(positive))
    .addOption(keyAction("--test <number>", "send one small request with that key, on or off").argParser(positive))
    .addOption(keyAction("--remove <number>", "remove that key, unless files or batches need it").argParser(positive))
    .addOption(keyAction("--key-file <path>", "add the keys of the file, one a line; they are off until --enable"))
    .addOption(keyAction("--key-stdin", "the same from standard input; asked for in a terminal"))
    .option("--force", "also remove a key that files or batches need: these are cancelled, and the files are lost")
    .addOption(yes())
    .action(async (one: Reference, options: KeyOptions) =>
      (await import("./keys.ts")).channelKeyList(await client(), await resolveId(one), options, output()),
    );
  examples(
    keys,
    "fairway channel keys 3",
    "fairway channel keys 3 --disable 2",
    "pass openai-new | fairway channel keys 3 --key-stdin",
    "fairway channel keys 3 --test 2",
    "fairway channel keys 3 --remove 1",
  );
}

function pausing(channel: Command, { client, output, resolveIds }: CommandContext): void {
  const load = () => import("./pauses.ts");
  const pause = channel
    .command("pause")
    .argument("[id...]", AS_LISTED, ids("channel"))
    .description("switch channels off together, until a time or until their tests pass")
    .option("--provider <type>", "instead of ids: all of this provider, by its name or number")
    .option("--tag <name>", "instead of ids: all with this tag")
    .option("--group <name>", "instead of ids: all of this group")
    .option("--model <name>", "instead of ids: all that serve this model")
    .option("--for <span>", "how long, such as 1h; at most 30 days; without it, until they are resumed", seconds("1h"))
    .option("--until-tests", "test each one every minute, after the time if there is one; it returns when it passes")
    .option("--reason <text>", "why, as the channels show it")
    .action(async (chosen: Reference[] | undefined, options: PauseOptions) =>
      (await load()).pauseChannels(await client(), { ids: await resolveIds(chosen), ...options }, output()),
    );
  examples(
    pause,
    "fairway channel pause --provider openai --until-tests --reason outage",
    "fairway channel pause --tag eu --for 2h",
    "fairway channel pause 3 4",
  );
  const resume = channel
    .command("resume")
    .argument("[pause]", "id of the pause, as `fairway channel pauses` shows it; not needed if one lasts", positive)
    .description("switch the channels of a pause on again, except those that were changed by hand")
    .action(async (one: number | undefined) => (await load()).resumeChannels(await client(), one, output()));
  examples(resume, "fairway channel resume", "fairway channel resume 2");
  const pauses = channel
    .command("pauses")
    .description("pauses that last, and the latest that ended")
    .action(async () => (await load()).listPauses(await client(), output()));
  examples(pauses, "fairway channel pauses", "fairway channel pauses -o jsonl | jq .channels");
}

function checking(channel: Command, { client, output, resolveIds }: CommandContext): void {
  const load = () => import("./checks.ts");
  const test = channel
    .command("test")
    .argument("[id...]", AS_LISTED, ids("channel"))
    .description("send one small request through each channel")
    .option("--all", "every channel that is enabled")
    .option("--model <name>", "instead of the channel's test model")
    .option("--concurrency <count>", "channels that are tested at the same time, 16 at most", atOnce, 4)
    .option("--fail-slow <span>", "an answer that takes longer is a failure, such as 5s", seconds("5s"))
    .addOption(
      new Option(
        "--betas",
        "ask for each known beta flag of the Messages protocol instead: which ones the host takes, and which ones are sent to it",
      ).conflicts(["failSlow", "all"]),
    )
    .action(
      async (chosen: Reference[] | undefined, { betas, ...options }: ChannelTestOptions & { betas?: boolean }) => {
        if (betas)
          return (await import("./betas.ts")).testBetas(await client(), await resolveIds(chosen), options, output());
        return (await load()).testChannels(await client(), await resolveIds(chosen), options, output());
      },
    );
  examples(test, "fairway channel test 3 4", "fairway channel test --all -o jsonl", "fairway channel test --betas 3");
  const balance = channel
    .command("balance")
    .argument("[id...]", AS_LISTED, ids("channel"))
    .description("query the provider for the remaining balance, if it supports that")
    .option("--all", "every channel that is enabled")
    .action(async (chosen: Reference[] | undefined, options: ChannelBalanceOptions) =>
      (await load()).channelBalances(await client(), await resolveIds(chosen), options, output()),
    );
  examples(balance, "fairway channel balance 3");
}

function atOnce(text: string): number {
  const value = positive(text);
  if (value > 16) throw new InvalidArgumentError("It must be 16 at most.");
  return value;
}

interface Deleting {
  readonly yes?: boolean;
  readonly force?: boolean;
}

function force(): Option {
  return new Option("--force", "also channels at which batches run: these are cancelled, and a person abandons them");
}

function deleting(channel: Command, { client, output, resolveIds }: CommandContext): void {
  const load = () => import("./changes.ts");
  const remove = channel
    .command("delete")
    .argument("<id...>", AS_LISTED, ids("channel"))
    .description("delete channels for good")
    .addOption(force())
    .addOption(yes())
    .action(async (chosen: Reference[], options: Deleting) =>
      (await load()).deleteChannels(await client(), await resolveIds(chosen, true), options, output()),
    );
  examples(remove, "fairway channel delete 3", "fairway channel delete 3 4 --yes", "fairway channel delete 3 --force");
  const prune = channel
    .command("prune")
    .description("delete every channel that is disabled, by hand or by the gateway")
    .addOption(force())
    .addOption(yes())
    .action(async (options: Deleting) => (await load()).pruneChannels(await client(), options, output()));
  examples(prune, "fairway channel prune --yes");
  const fix = channel
    .command("fix")
    .description("rebuild the routing table of all channels")
    .action(async () => (await load()).fixChannels(await client(), output()));
  examples(fix, "fairway channel fix");
}
