import type { Command } from "commander";
import type { Part } from "../paging.ts";
import type { CommandContext } from "../../session/command-context.ts";
import { examples, createNameParser, withParts, yes } from "../../core/arguments.ts";

const load = () => import("./option.ts");

export function optionCommands(program: Command, context: CommandContext): void {
  const { client, output } = context;
  const option = program
    .command("option")
    .alias("options")
    .alias("opt")
    .description("settings of the gateway (super administrator)");
  const get = option
    .command("get")
    .alias("list")
    .argument("[key]", "all when absent", createNameParser("option"))
    .description("print one setting or all")
    .option("--prefix <text>", "only those whose names begin like that")
    .action(async (key: string | undefined, options: { prefix?: string }) =>
      (await load()).getOptions(await client(), key, options, output()),
    );
  examples(get, "fairway option get RetryTimes -o raw", "fairway option list --prefix SMTP");
  const history = option
    .command("history")
    .argument("[key]", "all when absent", createNameParser("option"))
    .description("who changed what when, the latest first")
    .action(async (key: string | undefined, options: Part) =>
      (await load()).optionChanges(await client(), key, options, output()),
    );
  examples(withParts(history), "fairway option history ModelRatio");
  const reset = option
    .command("reset-ratios")
    .description("put the built-in model ratios back")
    .addOption(yes())
    .action(async (options: { yes?: boolean }) => (await load()).resetRatios(await client(), options, output()));
  examples(reset, "fairway option reset-ratios --yes");
  changing(option, context);
}

function changing(option: Command, { client, output, io }: CommandContext): void {
  const set = option
    .command("set")
    .argument("<key>", "its name", createNameParser("option"))
    .argument("<value>", "text, @file, or - for standard input; secrets belong there")
    .description("change a setting")
    .action(async (key: string, value: string) => (await load()).setOption(await client(), key, value, output()));
  examples(set, "fairway option set RetryTimes 1", "pass smtp | fairway option set SMTPToken -");
  const unset = option
    .command("unset")
    .argument("<key>", "its name", createNameParser("option"))
    .description("take a setting back to its default")
    .addOption(yes())
    .action(async (key: string, options: { yes?: boolean }) =>
      (await import("./undo.ts")).unsetOption(await client(), key, options, output()),
    );
  examples(unset, "fairway option unset RetryTimes --yes");
  const undo = option
    .command("undo")
    .argument("<key>", "its name", createNameParser("option"))
    .description("take the last change of a setting back; a second undo brings it again")
    .addOption(yes())
    .action(async (key: string, options: { yes?: boolean }) =>
      (await import("./undo.ts")).undoChange(await client(), key, options, output()),
    );
  examples(undo, "fairway option undo RetryTimes");
  const edit = option
    .command("edit")
    .argument("<key>", "its name", createNameParser("option"))
    .description("change a setting in $EDITOR; JSON is laid out for it")
    .action(async (key: string) => (await load()).editOption(await client(), key, { output: output(), io }));
  examples(edit, "fairway option edit ModelRatio");
}
