import {
  operatorWebhookCalls,
  ownWebhookCalls,
  teamList,
  teamWebhookCalls,
  type Client,
  type Webhook,
  type WebhookCalls,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { number, plain, time } from "../../print/columns.ts";
import { printList, printOne, type Output, type Shape } from "../../print/output.ts";

/** How endpoints are printed. */
export const ENDPOINTS: Shape<Webhook> = {
  kind: "EventEndpoint",
  columns: [
    number("ID", "id"),
    plain("NAME", "name"),
    plain("STATUS", "status"),
    plain("FORMAT", "format"),
    plain("HOST", "host"),
    { title: "TYPES", value: ({ types }) => (types.length === 0 ? "all" : types.join(",")) },
    time("LAST SUCCESS", "succeeded_at"),
    number("FAILURES", "failures"),
  ],
  wide: [
    plain("SEVERITY", "min_severity"),
    plain("LANGUAGE", "language"),
    number("GROUP", "group_seconds"),
    { title: "QUIET", value: ({ quiet }) => (quiet ? `${quiet.from}-${quiet.to} ${quiet.zone}` : "-") },
    { title: "ORDERED", value: ({ ordered }) => (ordered ? "yes" : "no") },
    plain("REASON", "disabled_reason"),
    time("CREATED", "created_at"),
  ],
  name: ({ id }) => `endpoint/${id}`,
};

/** Whose endpoints a command is about. */
export interface Whose {
  readonly operator?: boolean | undefined;
  /** Id or short name of a team. */
  readonly team?: string | undefined;
}

export async function findCalls(client: Client, { operator = false, team }: Whose): Promise<WebhookCalls> {
  if (team !== undefined) return teamWebhookCalls(await findTeamId(client, team));
  return operator ? operatorWebhookCalls : ownWebhookCalls;
}

async function findTeamId(client: Client, text: string): Promise<number> {
  const name = text.replace(/^team\//, "");
  if (/^\d+$/.test(name)) return Number(name);
  const { data } = await client.call(teamList, { query: { keyword: name, page_size: MAX_FOUND } });
  const found = data.find(({ slug }) => slug === name);
  if (!found) throw new CliError(`there is no team ${name}`, EXIT.notFound, "name its id or its short name");
  return found.id;
}

const MAX_FOUND = 100;

/** Returns the flag that names the same endpoints, for hints. */
export function writeWhose({ operator, team }: Whose): string {
  return team === undefined ? (operator ? " --operator" : "") : ` --team ${team}`;
}

/** Returns the endpoint of an id, of `endpoint/3` or of a name. */
export async function findEndpoint(client: Client, calls: WebhookCalls, text: string): Promise<Webhook> {
  const name = text.replace(/^endpoint\//, "");
  const rows = (await client.call(calls.list, {})).data;
  const found = rows.filter((row) => (/^\d+$/.test(name) ? row.id === Number(name) : row.name === name));
  const [row, ...others] = found;
  if (!row)
    throw new CliError(`there is no endpoint ${name}`, EXIT.notFound, "`fairway event endpoint list` lists them");
  if (others.length > 0) {
    const ids = found.map(({ id }) => id).join(", ");
    throw new CliError(`${found.length} endpoints are named ${name}`, EXIT.usage, `name one of the ids ${ids}`);
  }
  return row;
}

export async function listEndpoints(client: Client, whose: Whose, output: Output): Promise<void> {
  const rows = (await client.call((await findCalls(client, whose)).list, {})).data;
  const empty = "No endpoints. Add one: fairway event endpoint create --name on-call --url-stdin";
  await printList(output, { ...ENDPOINTS, rows, empty });
}

export async function getEndpoint(client: Client, text: string, whose: Whose, output: Output): Promise<void> {
  await printOne(output, await findEndpoint(client, await findCalls(client, whose), text), { shape: ENDPOINTS });
}
