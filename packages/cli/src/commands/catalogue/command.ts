import type { Command } from "commander";
import type { PriceOptions, TaskListOptions } from "./catalogue.ts";
import type { ExplainOptions } from "./pricing-explain.ts";
import type { CommandContext } from "../../session/command-context.ts";
import { priceCommands } from "./price-command.ts";
import { count, examples, createNameParser, withParts } from "../../core/arguments.ts";

const load = () => import("./catalogue.ts");

export function catalogueCommands(program: Command, context: CommandContext): void {
  offers(program, context);
  priceCommands(program, context);
  work(program, context);
}

function offers(program: Command, { client, output }: CommandContext): void {
  const model = program.command("model").alias("models").description("models that can be called");
  const list = model
    .command("list")
    .description("the models that your groups may use")
    .option("--all", "those of every enabled channel (administrators)")
    .action(async (options: { all?: boolean }) => (await load()).listModels(await client(), options, output()));
  examples(list, "fairway model list", "fairway model list --all -o jsonl");
  const map = model
    .command("map")
    .description("the models that each kind of upstream usually offers")
    .option("--type <type>", "its name or number; see `fairway channel types`")
    .action(async (options: { type?: string }) => (await load()).mapModels(await client(), options, output()));
  examples(map, "fairway model map --type openai -o jsonl | jq -r '.models[]'");
  const pricing = program.command("pricing").description("what models cost");
  const prices = pricing
    .command("list")
    .description("ratios and prices of the models that your groups may use")
    .option("--model <text>", "part of the name")
    .option("--group <name>", "only what that group may use")
    .action(async (options: PriceOptions) => (await load()).listPrices(await client(), options, output()));
  examples(prices, "fairway pricing list --model gpt-4o");
  const explain = pricing
    .command("explain")
    .argument("<model>", "its name", createNameParser("model"))
    .description("explains the charge of a chat, factor by factor, as the gateway computes and rounds it")
    .requiredOption("--prompt <tokens>", "tokens of the prompt, with those that come from a cache", count)
    .requiredOption("--completion <tokens>", "tokens of the answer", count)
    .option("--cached <tokens>", "tokens of the prompt that come from a cache", count, 0)
    .option("--group <name>", "whose ratio is used; your own when absent")
    .action(async (model: string, options: ExplainOptions) =>
      (await import("./pricing-explain.ts")).explainPrice(await client(), model, options, output()),
    );
  examples(
    explain,
    "fairway pricing explain gpt-4o --prompt 1000 --completion 500",
    "fairway pricing explain gpt-4o --prompt 1000 --completion 500 --cached 800 --group vip -o json | jq .quota",
  );
  const group = program.command("group").alias("groups").description("groups of users, keys and channels");
  const groups = group
    .command("list")
    .description("the groups that you may choose, with their labels")
    .option("--all", "every group (administrators)")
    .action(async (options: { all?: boolean }) => (await load()).listGroups(await client(), options, output()));
  examples(groups, "fairway group list --all");
}

function work(program: Command, { client, output }: CommandContext): void {
  const task = program.command("task").alias("tasks").description("videos, music and other work that takes a while");
  const list = task
    .command("list")
    .description("newest first; administrators see those of all users")
    .option("--status <word>", "such as SUCCESS, FAILURE, IN_PROGRESS")
    .option("--platform <name>")
    .option("--task <id>", "the id that its creator received")
    .action(async (options: TaskListOptions) => (await load()).listTasks(await client(), options, output()));
  examples(withParts(list), "fairway task list --status FAILURE");
  const oneTask = task
    .command("get")
    .argument("<task>", "the id that its creator received", createNameParser("task"))
    .description("everything about one task")
    .action(async (id: string) => (await load()).getTask(await client(), id, output()));
  examples(
    oneTask,
    "fairway task get task_01M86T2MM99F5SH9C9952RV2J9",
    "fairway task get task_01M86T2MM99F5SH9C9952RV2J9 -o json | jq .data",
  );
  const drawing = program.command("drawing").alias("drawings").description("drawing tasks");
  const drawings = drawing
    .command("list")
    .description("newest first; administrators see those of all users")
    .option("--task <id>", "the id that its creator received")
    .action(async (options: TaskListOptions) => (await load()).listDrawings(await client(), options, output()));
  const oneDrawing = drawing
    .command("get")
    .argument("<task>", "the id that its creator received", createNameParser("drawing"))
    .description("everything about one drawing")
    .action(async (id: string) => (await load()).getDrawing(await client(), id, output()));
  examples(oneDrawing, "fairway drawing get 1320098173412546");
  examples(withParts(drawings), "fairway drawing list --limit 20");
}
