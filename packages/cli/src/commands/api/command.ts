import { Option, type Command } from "commander";
import type { ApiOptions } from "./api.ts";
import type { CommandContext } from "../../session/command-context.ts";
import { examples, yes } from "../../core/arguments.ts";

export function apiCommands(program: Command, { client, output }: CommandContext): void {
  const api = program
    .command("api")
    .argument("[call]", "the name of a call, or a method such as GET; lists all calls when absent")
    .argument("[path]", "with a method: the path, such as /api/channel/3")
    .description("call any endpoint of the management API by its name or path, and print the answer as JSON")
    .option("-p, --param <name=value...>", "path parameters")
    .option("-q, --query <name=value...>", "query parameters")
    .option("--body <json>", "JSON, @file, or - for standard input; secrets belong there")
    .addOption(new Option("--input <file>", "a file with the body, or - for standard input").conflicts("body"))
    .addOption(
      new Option("-f, --field <name=value...>", "a text in the body, instead of --body").conflicts(["body", "input"]),
    )
    .addOption(
      new Option("-F, --json-field <name=json...>", "a number, list or other JSON in it").conflicts(["body", "input"]),
    )
    .addOption(new Option("-i, --include", "print the status and the headers first").conflicts("paginate"))
    .option("--paginate", "read all pages of a list, as one JSON array or, with -o jsonl, one line per row")
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
    "fairway api budgetCreate --input budget.json",
    "fairway api PUT /api/channel/ -F id=3 -f name=azure",
    "fairway api GET /api/channel/3 --include",
  );
}
