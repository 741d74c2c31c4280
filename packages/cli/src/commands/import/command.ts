import { Option, type Command } from "commander";
import type { CommandContext } from "../../core/command-context.ts";
import { examples } from "../arguments.ts";
import type { ImportFlags } from "./import.ts";

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
    .option(
      "--price-from-upstream",
      "models without a price get the one that the address of their channel publishes, as compatible gateways and LiteLLM do",
    )
    .option("--price-from <url>", "models without a price get the one that the gateway that you leave publishes")
    .addOption(
      new Option(
        "--map-group <old=new>",
        "a group there to its name here, may be repeated; every channel is in the group default",
      ).argParser((pair, before: readonly string[] | undefined) => [...(before ?? []), pair]),
    )
    .action(async (file: string, flags: ImportFlags) => {
      const options = { ...flags, isDry: globals().dryRun === true, env: env() };
      return (await import("./import.ts")).importConfig(await client(), file, options, output());
    });
  examples(
    importing,
    "fairway import --from litellm litellm.yaml --dry-run",
    "fairway import --from litellm litellm.yaml --price-from https://litellm.example.com --map-group default=staff",
    "OPENAI_API_KEY=$(pass openai) fairway import --from litellm litellm.yaml",
  );
}
