import type { Command } from "commander";
import type { ApiOptions } from "./api.ts";
import type { CommandContext } from "../../core/command-context.ts";
import { examples, yes } from "../arguments.ts";

export function apiCommands(program: Command, { client, output }: CommandContext): void {
  const api = program
    .command("api")
    .argument("[call]", "its name; all of them are listed when it is absent")
    .description("any call of the management API by its name, with the answer as it is, in JSON")
    .option("-p, --param <name=value...>", "places of its path")
    .option("-q, --query <name=value...>", "members of its query")
    .option("--body <json>", "JSON, @file, or - for standard input; secrets belong there")
    .addOption(yes())
    .action(async (call: string | undefined, options: ApiOptions) => {
      const { callApi, listCalls } = await import("./api.ts");
      return call === undefined ? listCalls(output()) : callApi(await client(), call, options, output());
    });
  examples(
    api,
    "fairway api | grep budget",
    "fairway api channelGet --param id=3",
    "fairway api userList --query keyword=ann group=vip",
    "fairway api budgetCreate --body @budget.json",
  );
}
