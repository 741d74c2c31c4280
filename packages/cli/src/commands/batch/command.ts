import { BATCH_PHASES } from "@fairway/wire";
import { Option, type Command } from "commander";
import { createNameParser, examples, id, interval, withParts, yes, type Reference } from "../../core/arguments.ts";
import type { CommandContext } from "../../session/command-context.ts";
import { withKey } from "../file/command.ts";
import type { WithKey } from "../file/file.ts";
import type { BatchListOptions } from "./batch.ts";
import type { CreateOptions, ResultOptions } from "./run.ts";

const load = () => import("./batch.ts");
const parseId = createNameParser("batch");
const AS_LISTED = "as `fairway batch list` shows it";

export function batchCommands(program: Command, context: CommandContext): void {
  const batch = program
    .command("batch")
    .alias("batches")
    .description("lists of requests that providers answer within a day, mostly at half the price");
  reading(batch, context);
  running(batch, context);
  deciding(batch, context);
}

interface Named extends Omit<BatchListOptions, "user" | "token" | "channel"> {
  readonly user?: Reference;
  readonly token?: Reference;
  readonly channel?: Reference;
}

function reading(batch: Command, { client, output, resolveId }: CommandContext): void {
  const list = batch
    .command("list")
    .description("newest first; administrators see those of all users")
    .option("--mine", "only your own, for administrators too")
    .addOption(new Option("--phase <word>").choices(BATCH_PHASES))
    .option("--model <name>", "with requests of this model")
    .option("--user <id>", "id or name", id("user"))
    .option("--token <id>", "id or name", id("token"))
    .option("--channel <id>", "id or name", id("channel"))
    .action(async ({ user, token, channel, ...options }: Named) => {
      const resolved = async (one: Reference | undefined) => (one === undefined ? undefined : await resolveId(one));
      const [userId, tokenId, channelId] = [await resolved(user), await resolved(token), await resolved(channel)];
      const chosen = {
        ...(userId !== undefined && { user: userId }),
        ...(tokenId !== undefined && { token: tokenId }),
        ...(channelId !== undefined && { channel: channelId }),
      };
      await (await load()).listBatches(await client(), { ...options, ...chosen }, output());
    });
  examples(withParts(list), "fairway batch list --phase stuck", "fairway batch list --mine -o name");
  const get = batch
    .command("get")
    .argument("<id>", AS_LISTED, parseId)
    .description("one batch with its prices and the faults of its lines")
    .action(async (one: string) => (await load()).getBatch(await client(), one, output()));
  examples(get, "fairway batch get batch_abc");
  const watch = batch
    .command("watch")
    .argument("<id>", AS_LISTED, parseId)
    .description("follow a batch until it is booked; exits with 0 if it completed, with 3 if it failed or expired")
    .option("--interval <seconds>", "between two reads", interval, 10)
    .action(async (one: string, options: { readonly interval: number }) =>
      (await import("./run.ts")).watchBatch(await client(), one, options, output()),
    );
  examples(watch, "fairway batch watch batch_abc && fairway batch results batch_abc > answers.jsonl");
}

function running(batch: Command, { client, session, output, io }: CommandContext): void {
  const create = withKey(
    batch
      .command("create")
      .argument("<file>", "requests, one a line, in the form of OpenAI")
      .description("upload a file of requests and create a batch of them, with one of your keys")
      .option("--endpoint <path>", "what answers the requests", "/v1/chat/completions")
      .option("--model <name>", "store the file where this model is served"),
  ).action(async (path: string, options: CreateOptions & WithKey) => {
    const [{ createCaller }, { createBatch }] = [await import("../file/file.ts"), await import("./run.ts")];
    await createBatch(await createCaller(await session(), options, io.nowSeconds()), path, options, output());
  });
  examples(
    create,
    "fairway batch create requests.jsonl --endpoint /v1/chat/completions --key ci",
    "fairway batch watch $(fairway batch create requests.jsonl -o name)",
  );
  const results = withKey(
    batch
      .command("results")
      .argument("<id>", AS_LISTED, parseId)
      .description("print the answers of a batch, or write them to a new file")
      .option("--errors", "the requests that failed instead")
      .option("--output-file <path>", "a new file that only you can read"),
  ).action(async (one: string, options: ResultOptions & WithKey) => {
    const [{ createCaller }, { printResults }] = [await import("../file/file.ts"), await import("./run.ts")];
    await printResults(await createCaller(await session(), options, io.nowSeconds()), one, options, output());
  });
  examples(results, "fairway batch results batch_abc --output-file answers.jsonl");
  const cancel = batch
    .command("cancel")
    .argument("<id>", AS_LISTED, parseId)
    .description("end a batch early; what has finished is charged")
    .action(async (one: string) => (await load()).cancelBatch(await client(), one, output()));
  examples(cancel, "fairway batch cancel batch_abc");
}

function deciding(batch: Command, { client, output }: CommandContext): void {
  const settle = batch
    .command("settle")
    .argument("<id>", AS_LISTED, parseId)
    .description("read the results of a batch again (administrators)")
    .action(async (one: string) => (await load()).settleBatch(await client(), one, output()));
  examples(settle, "fairway batch settle batch_abc");
  const abandon = batch
    .command("abandon")
    .argument("<id>", AS_LISTED, parseId)
    .description("end a stuck batch without a charge and return its deposit (super administrator)")
    .addOption(yes())
    .action(async (one: string, options: { readonly yes?: boolean }) =>
      (await load()).abandonBatch(await client(), one, options, output()),
    );
  examples(abandon, "fairway batch abandon batch_abc --yes");
}
