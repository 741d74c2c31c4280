import { Option, type Command } from "commander";
import type { CommandContext } from "../../core/command-context.ts";
import { examples } from "../arguments.ts";
import type { ImportOptions } from "./import.ts";

export function importCommands(program: Command, { client, env, globals, output }: CommandContext): void {
  const importing = program
    .command("import")
    .argument(
      "<file>",
      "a configuration of LiteLLM, in YAML; keys that it names as os.environ/NAME are read from your environment",
    )
    .description(
      "channels, prices, aliases and retries of another gateway; says what is not carried over (super administrator)",
    )
    .addOption(
      new Option("--from <gateway>", "what the file is of")
        .choices(["litellm", "new-api", "one-api"])
        .makeOptionMandatory(),
    )
    .action(async (file: string, { from }: Pick<ImportOptions, "from">) => {
      const options = { from, isDry: globals().dryRun === true, env: env() };
      return (await import("./import.ts")).importConfig(await client(), file, options, output());
    });
  examples(
    importing,
    "fairway import --from litellm litellm.yaml --dry-run",
    "OPENAI_API_KEY=$(pass openai) fairway import --from litellm litellm.yaml",
  );
}
