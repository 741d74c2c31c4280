import { Option, type Command } from "commander";
import { createNameParser, examples, id, withParts, yes } from "../../core/arguments.ts";
import type { CommandContext } from "../../session/command-context.ts";
import type { FileListOptions, UploadOptions, WithKey } from "./file.ts";

const load = () => import("./file.ts");
const parseId = createNameParser("file");
const AS_LISTED = "as `fairway file list` shows it";
const PURPOSES = ["batch", "user_data", "vision", "assistants", "fine-tune", "evals"];

export function fileCommands(program: Command, { client, session, output, io }: CommandContext): void {
  const file = program.command("file").alias("files").description("files that clients store at providers");
  const list = file
    .command("list")
    .description("newest first; administrators see those of all users")
    .option("--mine", "only your own, for administrators too")
    .option("--purpose <word>", "such as batch")
    .option("--state <word>", "such as ready")
    .addOption(new Option("--protocol <word>").choices(["openai", "anthropic", "gemini"]))
    .action(async (options: FileListOptions) => (await load()).listFiles(await client(), options, output()));
  examples(withParts(list), "fairway file list --purpose batch", "fairway file list --mine -o name");
  const upload = withKey(
    file
      .command("upload")
      .argument("<path>")
      .description("store a file at a provider, with one of your keys")
      .addOption(new Option("--purpose <word>", "what it is for").choices(PURPOSES).default("user_data"))
      .option("--model <name>", "store it where this model is served"),
  ).action(async (path: string, options: UploadOptions & WithKey) => {
    const { createCaller, upload: send } = await load();
    await send(await createCaller(await session(), options, io.nowSeconds()), path, options, output());
  });
  examples(upload, "fairway file upload report.pdf", "fairway file upload requests.jsonl --purpose batch -o name");
  const download = withKey(
    file
      .command("download")
      .argument("<id>", AS_LISTED, parseId)
      .description("print a file, or write it to a new one")
      .option("--output-file <path>", "a new file that only you can read"),
  ).action(async (one: string, options: { readonly outputFile?: string } & WithKey) => {
    const { createCaller, downloadFile } = await load();
    await downloadFile(
      await createCaller(await session(), options, io.nowSeconds()),
      one,
      options.outputFile,
      output(),
    );
  });
  examples(download, "fairway file download file-abc > answers.jsonl");
  const remove = file
    .command("delete")
    .argument("<id...>", AS_LISTED, collectIds)
    .description("delete files here and at their providers")
    .addOption(yes())
    .action(async (chosen: string[], options: { readonly yes?: boolean }) =>
      (await load()).deleteFiles(await client(), chosen, options, output()),
    );
  examples(remove, "fairway file delete file-abc --yes");
}

function collectIds(text: string, before: readonly string[] = []): string[] {
  return [...before, parseId(text)];
}

/** Adds the flag for the key that calls of models spend. */
export function withKey(command: Command): Command {
  return command.option("--key <id>", "id or name of the key; the newest usable one when absent", id("token"));
}
