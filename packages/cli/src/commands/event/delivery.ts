import { formatTime, type Client, type WebhookDelivery } from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { parsePastTime } from "../../core/times.ts";
import { number, plain } from "../../print/columns.ts";
import { printDone, type Output, type Shape } from "../../print/output.ts";
import { printPart, type Part } from "../paging.ts";
import { findCalls, findEndpoint, type Whose } from "./endpoint.ts";

function time(title: string, field: "created_ms" | "next_at_ms") {
  const value = (row: WebhookDelivery) => formatTime(Math.floor(row[field] / 1_000));
  return { ...plain<WebhookDelivery>(title, field), value };
}

/** How deliveries are printed. */
const DELIVERIES: Shape<WebhookDelivery> = {
  kind: "Delivery",
  columns: [
    number("ID", "id"),
    time("TIME", "created_ms"),
    plain("TYPE", "type"),
    plain("STATE", "state"),
    number("ATTEMPTS", "attempts"),
    number("STATUS", "last_status"),
    plain("ERROR", "last_error"),
  ],
  wide: [
    number("EVENT", "event_id"),
    plain("SEVERITY", "severity"),
    number("REDELIVERY", "redelivery"),
    number("MS", "last_ms"),
    time("NEXT", "next_at_ms"),
  ],
  name: ({ id }) => `delivery/${id}`,
};

export async function testEndpoint(client: Client, text: string, whose: Whose, output: Output): Promise<void> {
  const calls = await findCalls(client, whose);
  const { id, name } = await findEndpoint(client, calls, text);
  const { data } = await client.call(calls.test, { params: { id } });
  const { passed, last_status: status, last_error: error, last_ms: ms } = data;
  if (passed) {
    await printDone(output, data, `Endpoint ${id} (${name}) is on: it answered ${status} after ${ms} ms.`);
    return;
  }
  throw new CliError(`the test message was not accepted: ${error}`, EXIT.failure, "repair the receiver and test again");
}

export interface DeliveryListOptions extends Part, Whose {
  readonly state?: string;
  readonly type?: string;
}

export async function listDeliveries(
  client: Client,
  text: string,
  { state = "", type = "", operator, team, ...part }: DeliveryListOptions,
  output: Output,
): Promise<void> {
  const calls = await findCalls(client, { operator, team });
  const { id } = await findEndpoint(client, calls, text);
  const list = { ...DELIVERIES, toShown: (row: WebhookDelivery) => row, empty: "No deliveries." };
  await printPart(output, part, list, (page) =>
    client.call(calls.deliveries, { params: { id }, query: { state, type, ...page } }),
  );
}

interface Place {
  readonly endpoint: string;
  readonly delivery: number;
}

export async function redeliver(
  client: Client,
  { endpoint, delivery }: Place,
  whose: Whose,
  output: Output,
): Promise<void> {
  const calls = await findCalls(client, whose);
  const { id } = await findEndpoint(client, calls, endpoint);
  const { data } = await client.call(calls.redeliver, { params: { id, did: delivery } });
  await printDone(
    output,
    { redelivery: data },
    `The event of delivery ${delivery} is sent again (redelivery ${data}).`,
  );
}

export interface RecoverOptions extends Whose {
  readonly since: string;
}

export async function recoverEvents(
  client: Client,
  text: string,
  { since, ...whose }: RecoverOptions,
  { output, nowSeconds }: { readonly output: Output; nowSeconds(): number },
): Promise<void> {
  const at = parsePastTime(since, "--since", nowSeconds());
  const calls = await findCalls(client, whose);
  const { id } = await findEndpoint(client, calls, text);
  const { data } = await client.call(calls.recover, { params: { id }, body: { since: at } });
  await printDone(output, { events: data }, `${data} missed ${data === 1 ? "event is" : "events are"} sent.`);
}
