import type { Command } from "commander";
import type { ApiOptions } from "./api.ts";
import type { CommandContext } from "../../core/command-context.ts";
import { examples, yes } from "../arguments.ts";

export function apiCommands(program: Command, { client, output }: CommandContext): void {
  const api = program
    .command("api")
    .argument("[call]", "its name, or a method such as GET; all calls are listed when it is absent")
    .argument("[path]", "with a method: such as /api/channel/3")
    .description("any call of the management API by its name or its path, with the answer as it is, in JSON")
    .option("-p, --param <name=value...>", "places of its path")
    .option("-q, --query <name=value...>", "members of its query")
    .option("--body <json>", "JSON, @file, or - for standard input; secrets belong there")
    .option("--paginate", "all pages of a list, joined to one JSON array, or a line for each row with -o jsonl")
    .addOption(yes())
    .action(async (call: string | undefined, path: string | undefined, options: ApiOptions) => {
      const { callApi, listCalls } = await import("./api.ts");
      return call === undefined ? listCalls(output()) : callApi(await client(), { call, path }, options, output());
    });
  examples(
    api,
    "fairway api | grep budget",
    "fairway api channelGet --param id=3",
    "fairway api userList --query keyword=ann group=vip",
    "fairway api GET /api/channel/3",
    "fairway api GET '/api/log/?type=2' --paginate -o jsonl",
    "fairway api budgetCreate --body @budget.json",
  );
}
