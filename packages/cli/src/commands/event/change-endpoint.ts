import {
  NO_QUIET,
  type Client,
  type EventSeverity,
  type Webhook,
  type WebhookCalls,
  type WebhookFormat,
  type WebhookLanguage,
  type WebhookQuiet,
  type WebhookUpdateBody,
  type WebhookWithKey,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { plain } from "../../print/columns.ts";
import { printBare, printDone, type Output, type Shape } from "../../print/output.ts";
import { deleteEach } from "../each.ts";
import { readStdin, readTextFile } from "../../terminal/prompt.ts";
import { ENDPOINTS, findCalls, findEndpoint, writeWhose, type Whose } from "./endpoint.ts";

/** What an endpoint can be changed to. */
export interface EndpointTerms extends Whose {
  readonly url?: string;
  readonly urlFile?: string;
  readonly urlStdin?: boolean;
  readonly secretFile?: string;
  readonly chat?: string;
  readonly type?: readonly string[];
  readonly minSeverity?: EventSeverity;
  readonly language?: WebhookLanguage;
  readonly group?: number;
  readonly quietHours?: Pick<WebhookQuiet, "from" | "to"> | typeof NO_QUIET;
  readonly quietZone?: string;
  readonly quietDays?: readonly number[];
  readonly ordered?: boolean;
}

export interface EndpointCreateOptions extends EndpointTerms {
  readonly name: string;
  readonly format: WebhookFormat;
}

export interface EndpointUpdateOptions extends EndpointTerms {
  readonly name?: string;
  readonly enable?: boolean;
  readonly disable?: boolean;
}

const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6];

/** How an endpoint with its new signing key is printed. */
const KEYED: Shape<WebhookWithKey> = {
  ...ENDPOINTS,
  columns: [...ENDPOINTS.columns, plain("KEY", "signing_secret")],
};

export async function createEndpoint(client: Client, options: EndpointCreateOptions, output: Output): Promise<void> {
  const url = await readUrl(options);
  if (url === undefined)
    throw new CliError("the endpoint has no address", EXIT.usage, "give it with --url-stdin, --url-file or --url");
  const { name, format } = options;
  const body = { ...(await readTerms(options)), name, format, url };
  const { data } = await client.call((await findCalls(client, options)).create, { body });
  const flag = writeWhose(options);
  output.note(`Created endpoint ${data.id}. It gets events after \`fairway event endpoint test ${data.id}${flag}\`.`);
  await printKey(data, output);
}

async function printKey(data: WebhookWithKey, output: Output): Promise<void> {
  if (data.signing_secret === "") return printDone(output, data, "Its messages are not signed by the gateway.", KEYED);
  output.note("This key verifies its messages and is never shown again.");
  await printBare(output, data.signing_secret, data, KEYED);
}

export async function updateEndpoint(
  client: Client,
  text: string,
  options: EndpointUpdateOptions,
  output: Output,
): Promise<void> {
  const { name, enable, disable } = options;
  const url = await readUrl(options);
  const body: WebhookUpdateBody = {
    ...(await readTerms(options)),
    ...(name !== undefined && { name }),
    ...(url !== undefined && { url }),
    ...((enable ?? disable) !== undefined && { status: enable ? ("on" as const) : ("off" as const) }),
  };
  if (Object.keys(body).length === 0)
    throw new CliError("nothing to change", EXIT.usage, "name a flag of `fairway event endpoint update --help`");
  const calls = await findCalls(client, options);
  const { id } = await findEndpoint(client, calls, text);
  const { data } = await client.call(calls.update, { params: { id }, body });
  const isUntested = data.status === "untested" ? " It has to be tested again." : "";
  await printDone(output, data, `Changed endpoint ${id} (${data.name}).${isUntested}`, ENDPOINTS);
}

async function readUrl({ url, urlFile, urlStdin }: EndpointTerms): Promise<string | undefined> {
  if (urlFile !== undefined) return readTextFile(urlFile, "--url-file").trim();
  return urlStdin ? (await readStdin("Address")).trim() : url;
}

async function readTerms(options: EndpointTerms) {
  const { secretFile, chat, type, minSeverity, language, group, ordered } = options;
  const quiet = readQuiet(options);
  return {
    ...(secretFile !== undefined && { secret: readTextFile(secretFile, "--secret-file").trim() }),
    ...(chat !== undefined && { chat_id: chat }),
    ...(type !== undefined && { types: type.includes("all") ? [] : [...type] }),
    ...(minSeverity !== undefined && { min_severity: minSeverity }),
    ...(language !== undefined && { language }),
    ...(group !== undefined && { group_seconds: group }),
    ...(quiet !== undefined && { quiet }),
    ...(ordered !== undefined && { ordered }),
  };
}

function readQuiet({ quietHours, quietZone, quietDays }: EndpointTerms): WebhookUpdateBody["quiet"] {
  if (quietHours === undefined && (quietZone ?? quietDays) !== undefined)
    throw new CliError("there are no quiet hours", EXIT.usage, "add --quiet-hours 22:00-07:00");
  if (quietHours === undefined || quietHours === NO_QUIET) return quietHours;
  return { ...quietHours, zone: quietZone ?? "UTC", weekdays: [...(quietDays ?? EVERY_DAY)] };
}

export async function rotateSecret(client: Client, text: string, whose: Whose, output: Output): Promise<void> {
  const calls = await findCalls(client, whose);
  const { id } = await findEndpoint(client, calls, text);
  const { data } = await client.call(calls.rotate, { params: { id } });
  output.note("The former key signs too for another 24 hours.");
  await printBare(output, data.signing_secret, data, KEYED);
}

interface DeleteOptions extends Whose {
  readonly yes?: boolean;
}

export async function deleteEndpoints(
  client: Client,
  texts: readonly string[],
  { yes, ...whose }: DeleteOptions,
  output: Output,
): Promise<void> {
  const calls = await findCalls(client, whose);
  const rows = await findAll(client, calls, texts);
  const deletion = {
    noun: "endpoint",
    kind: "EventEndpointDelete",
    ids: rows.map(({ id }) => id),
    question: (named: string) => `Delete endpoint ${named}`,
    loadName: async (id: number) => rows.find((row) => row.id === id)?.name ?? "",
    remove: (id: number) => client.call(calls.remove, { params: { id } }),
  };
  await deleteEach(deletion, yes, output);
}

async function findAll(client: Client, calls: WebhookCalls, texts: readonly string[]): Promise<Webhook[]> {
  const rows: Webhook[] = [];
  for (const text of texts) rows.push(await findEndpoint(client, calls, text));
  return rows;
}
