import {
  EVENT_SEVERITIES,
  NO_QUIET,
  MAX_RECOVERED_DELIVERIES,
  WEBHOOK_FORMATS,
  WEBHOOK_LANGUAGES,
} from "@fairway/wire";
import { InvalidArgumentError, Option, type Command } from "commander";
import { examples, list, positive, withParts, yes } from "../../core/arguments.ts";
import { parseSpanSeconds } from "../../core/times.ts";
import type { CommandContext } from "../../session/command-context.ts";
import type { EndpointCreateOptions, EndpointTerms, EndpointUpdateOptions } from "./change-endpoint.ts";
import type { DeliveryListOptions, RecoverOptions } from "./delivery.ts";
import type { Whose } from "./endpoint.ts";
import type { EventListOptions } from "./event.ts";

const ONE = "id or name, as `fairway event endpoint list` shows it";
const STATES = ["waiting", "done", "failed", "skipped"];

export function eventCommands(program: Command, context: CommandContext): void {
  const { client, output, io } = context;
  const event = program.command("event").description("what happened, and the programs and chats that hear it");
  const events = withParts(event.command("list").description("your events, newest first"))
    .option("--all", "of all accounts (super administrator)")
    .option("--type <type>", "only this type, such as balance.low")
    .option("--since <time>", "such as 7d or 2026-11-23T08:00")
    .action(async (options: EventListOptions) =>
      (await import("./event.ts")).listEvents(await client(), options, { output: output(), nowSeconds: io.nowSeconds }),
    );
  examples(events, "fairway event list --since 1d", "fairway event list --all --type channel.disabled -o jsonl");
  const types = event
    .command("types")
    .description("every type, with when it happens")
    .action(async () => (await import("./event.ts")).listEventTypes(await client(), output()));
  examples(types, "fairway event types");
  const endpoint = event.command("endpoint").alias("endpoints").description("addresses that get events");
  reading(endpoint, context);
  writing(endpoint, context);
  delivering(endpoint, context);
}

function withWhose(command: Command): Command {
  return command
    .addOption(
      new Option("--operator", "those of the operator, which hear all accounts (super administrator)").conflicts(
        "team",
      ),
    )
    .option("--team <team>", "those of a team, by its id or short name (its owners and admins)");
}

function reading(endpoint: Command, { client, output }: CommandContext): void {
  const all = withWhose(endpoint.command("list").description("your endpoints, oldest first")).action(
    async (whose: Whose) => (await import("./endpoint.ts")).listEndpoints(await client(), whose, output()),
  );
  examples(all, "fairway event endpoint list", "fairway event endpoint list --operator -o wide");
  const get = withWhose(endpoint.command("get").argument("<endpoint>", ONE).description("one endpoint")).action(
    async (one: string, whose: Whose) =>
      (await import("./endpoint.ts")).getEndpoint(await client(), one, whose, output()),
  );
  examples(get, "fairway event endpoint get on-call");
}

const loadChanges = () => import("./change-endpoint.ts");

function writing(endpoint: Command, { client, output }: CommandContext): void {
  const create = withTerms(
    endpoint
      .command("create")
      .description("add an endpoint and print the key that signs its messages, once")
      .requiredOption("--name <name>", "who hears it")
      .addOption(
        new Option("--format <word>", "how messages are written").choices(WEBHOOK_FORMATS).default("standard"),
      ),
  ).action(async (options: EndpointCreateOptions) =>
    (await loadChanges()).createEndpoint(await client(), options, output()),
  );
  examples(
    create,
    "fairway event endpoint create --name on-call --url https://hooks.example.com/fairway --type balance.low,balance.empty",
    "pass slack-hook | fairway event endpoint create --name ops --format slack --url-stdin --operator --min-severity warning",
  );
  const update = withTerms(
    endpoint
      .command("update")
      .argument("<endpoint>", ONE)
      .description("change an endpoint; a new address has to be tested again")
      .option("--name <name>")
      .addOption(new Option("--enable", "let it get events again").conflicts("disable"))
      .addOption(new Option("--disable", "send it nothing")),
  ).action(async (one: string, options: EndpointUpdateOptions) =>
    (await loadChanges()).updateEndpoint(await client(), one, options, output()),
  );
  examples(update, "fairway event endpoint update on-call --quiet-hours 22:00-07:00 --quiet-zone Europe/Berlin");
  const rotate = withWhose(
    endpoint
      .command("rotate-secret")
      .argument("<endpoint>", ONE)
      .description("make a new signing key and print it, once"),
  ).action(async (one: string, whose: Whose) =>
    (await loadChanges()).rotateSecret(await client(), one, whose, output()),
  );
  examples(rotate, "fairway event endpoint rotate-secret on-call > key.txt");
  const remove = withWhose(
    endpoint.command("delete").argument("<endpoint...>", ONE).description("delete endpoints with their deliveries"),
  )
    .addOption(yes())
    .action(async (chosen: string[], options: Whose & { yes?: boolean }) =>
      (await loadChanges()).deleteEndpoints(await client(), chosen, options, output()),
    );
  examples(remove, "fairway event endpoint delete on-call --yes");
}

function withTerms(command: Command): Command {
  return withWhose(command)
    .addOption(new Option("--url <address>", "where messages go, if it holds no secret").conflicts("urlFile"))
    .option("--url-file <path>", "file that holds the address")
    .addOption(new Option("--url-stdin", "read the address from standard input").conflicts(["url", "urlFile"]))
    .option("--secret-file <path>", "file that holds the secret of a robot of Feishu, Lark or DingTalk")
    .option("--chat <id>", "chat that a bot of Telegram writes to")
    .option("--type <types>", "types of events separated by commas, or all", list)
    .addOption(new Option("--min-severity <word>", "the lowest that is sent").choices(EVENT_SEVERITIES))
    .addOption(new Option("--language <word>", "of the texts").choices(WEBHOOK_LANGUAGES))
    .option("--group <span>", "time in which events of one type become one message of a chat: 0 to 1h", parseGroup)
    .option("--quiet-hours <span>", "when only critical events are sent: 22:00-07:00, or none", parseHours)
    .option("--quiet-zone <name>", "time zone of these hours; UTC when absent")
    .option("--quiet-days <days>", "days on which they begin: 1 (Monday) to 7; all when absent", parseDays)
    .option("--ordered", "an event waits until those before it were accepted")
    .option("--no-ordered", "events do not wait for each other");
}

function delivering(endpoint: Command, { client, output, io }: CommandContext): void {
  const load = () => import("./delivery.ts");
  const test = withWhose(
    endpoint
      .command("test")
      .argument("<endpoint>", ONE)
      .description("send a test message; if it is accepted, the endpoint is on"),
  ).action(async (one: string, whose: Whose) => (await load()).testEndpoint(await client(), one, whose, output()));
  examples(test, "fairway event endpoint test on-call");
  const deliveries = withParts(
    withWhose(
      endpoint.command("deliveries").argument("<endpoint>", ONE).description("what became of each event, newest first"),
    ),
  )
    .addOption(new Option("--state <word>").choices(STATES))
    .option("--type <type>", "only this type of event")
    .action(async (one: string, options: DeliveryListOptions) =>
      (await load()).listDeliveries(await client(), one, options, output()),
    );
  examples(deliveries, "fairway event endpoint deliveries on-call --state failed");
  const again = withWhose(
    endpoint
      .command("redeliver")
      .argument("<endpoint>", ONE)
      .argument("<delivery>", "id, as `fairway event endpoint deliveries` shows it", positive)
      .description("send the event of a delivery again, under the same message id"),
  ).action(async (one: string, delivery: number, whose: Whose) =>
    (await load()).redeliver(await client(), { endpoint: one, delivery }, whose, output()),
  );
  examples(again, "fairway event endpoint redeliver on-call 4711");
  const recover = withWhose(
    endpoint
      .command("recover")
      .argument("<endpoint>", ONE)
      .description(`send the events that it missed, at most ${MAX_RECOVERED_DELIVERIES}`)
      .requiredOption("--since <time>", "such as 2d or 2026-11-23T08:00"),
  ).action(async (one: string, options: RecoverOptions) =>
    (await load()).recoverEvents(await client(), one, options, { output: output(), nowSeconds: io.nowSeconds }),
  );
  examples(recover, "fairway event endpoint recover on-call --since 2d");
}

const MAX_GROUP_SECONDS = 3_600;

function parseGroup(text: string): number {
  const seconds = text === "0" ? 0 : parseSpanSeconds(text);
  if (seconds === undefined || seconds > MAX_GROUP_SECONDS)
    throw new InvalidArgumentError("Write a span of an hour at most, such as 30s, or 0.");
  return seconds;
}

function parseHours(text: string): EndpointTerms["quietHours"] {
  if (text === "none") return NO_QUIET;
  const [, from, to] = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(text) ?? [];
  if (from === undefined || to === undefined)
    throw new InvalidArgumentError("Write hours such as 22:00-07:00, or none.");
  return { from, to };
}

/** Sunday is 7 here, as on calendars, and 0 in the API. */
function parseDays(text: string): number[] {
  const days = list(text).map((part) => (/^[1-7]$/.test(part) ? Number(part) % 7 : undefined));
  const known = days.filter((day) => day !== undefined);
  if (known.length === 0 || known.length < days.length)
    throw new InvalidArgumentError("Write days from 1 (Monday) to 7, such as 1,2,3,4,5.");
  return [...new Set(known)];
}
