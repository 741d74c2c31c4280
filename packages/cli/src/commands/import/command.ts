import { Option, type Command } from "commander";
import type { CommandContext } from "../../session/command-context.ts";
import { examples, list, positive } from "../../core/arguments.ts";
import type { ImportFlags } from "./import.ts";

export function importCommands(
  program: Command,
  { client, env, globals, io, output, transport }: CommandContext,
): void {
  const importing = program
    .command("import")
    .argument(
      "<place>",
      "a configuration of LiteLLM or Bifrost, whose os.environ/NAME and env.NAME are read from your environment; or the address of a running gateway",
    )
    .description(
      "import from another gateway what its file or its calls show, and report what is left out (super administrator)",
    )
    .addOption(
      new Option(
        "--from <gateway>",
        "LiteLLM, Bifrost, or a compatible gateway: new-api, one-api and their descendants",
      )
        .choices(["litellm", "litellm-yaml", "bifrost", "new-api", "one-api"])
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
    );
  addRunningOptions(importing).action(async (place: string, flags: ImportFlags) => {
    const isDry = globals().dryRun === true;
    const options = { ...flags, isDry, env: env(), nowSeconds: io.nowSeconds(), transport };
    return (await import("./import.ts")).importAny(await client(), place, options, output());
  });
  examples(
    importing,
    "fairway import --from litellm litellm.yaml --dry-run",
    "fairway import --from litellm litellm.yaml --price-from https://litellm.example.com --map-group default=staff",
    "OPENAI_API_KEY=$(pass openai) fairway import --from litellm litellm.yaml",
    "pass old | fairway import --from new-api https://old.example.com --token-stdin --dry-run",
    "pass old | fairway import --from one-api https://old.example.com --token-stdin --only channels --channel-keys keys.yaml",
  );
}

/** Adds the options that only an import from a running gateway takes. */
function addRunningOptions(importing: Command): Command {
  return importing
    .option(
      "--token-stdin",
      "of a running gateway: read its access token from standard input; or FAIRWAY_SOURCE_TOKEN has it",
    )
    .addOption(
      new Option("--user-id <number>", "of a running gateway: whose token it is, where it requires the id").argParser(
        positive,
      ),
    )
    .option("--insecure-http", "of a running gateway: allow plain http beyond this machine")
    .option(
      "--channel-keys <file>",
      "of a running gateway: YAML with a line NAME: KEY for each channel, as its calls show none",
    )
    .option("--only <list>", "of a running gateway: some of options, channels, users, keys", list);
}
