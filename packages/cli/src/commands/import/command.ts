import { Option, type Command } from "commander";
import type { CommandContext } from "../../core/command-context.ts";
import { examples } from "../arguments.ts";
import type { ImportFlags } from "./import.ts";

export function importCommands(program: Command, { client, env, globals, output }: CommandContext): void {
  const importing = program
    .command("import")
    .argument("<file>", "a LiteLLM configuration in YAML; keys given as os.environ/NAME are read from your environment")
    .description(
      "import channels, prices, aliases and retries of another gateway, and report what is left out (super administrator)",
    )
    .addOption(
      new Option("--from <gateway>", "the gateway that the file is from")
        .choices(["litellm", "litellm-yaml", "new-api", "one-api"])
        .makeOptionMandatory(),
    )
    .option(
      "--price-from-upstream",
      "price models that have none from their channel's own address, where compatible gateways and LiteLLM publish prices",
    )
    .option("--price-from <url>", "price models that have none from the gateway that you are leaving")
    .addOption(
      new Option(
        "--map-group <old=new>",
        "rename a group, can be repeated; every imported channel is in the group default",
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
