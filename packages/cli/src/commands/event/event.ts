import {
  eventList,
  eventListSelf,
  eventTypes,
  formatTime,
  type Client,
  type Event,
  type EventTypeInfo,
} from "@fairway/wire";
import { parsePastTime } from "../../core/times.ts";
import { number, plain } from "../../print/columns.ts";
import { printList, type Output, type Shape } from "../../print/output.ts";
import { printPart, type Part } from "../paging.ts";

/** How events are printed. */
const EVENTS: Shape<Event> = {
  kind: "Event",
  columns: [
    number("ID", "id"),
    { ...plain("TIME", "at_ms"), value: ({ at_ms: at }) => formatTime(Math.floor(at / 1_000)) },
    plain("TYPE", "type"),
    plain("SEVERITY", "severity"),
    number("USER", "user_id"),
    plain("DATA", "data"),
  ],
  wide: [number("ACCOUNT", "account_id"), number("TEAM", "team_id")],
  name: ({ id }) => `event/${id}`,
};

const TYPES: Shape<EventTypeInfo> = {
  kind: "EventType",
  columns: [
    plain("TYPE", "type"),
    plain("SEVERITY", "severity"),
    plain("AUDIENCE", "audience"),
    plain("SUMMARY", "summary"),
  ],
  wide: [plain("EXAMPLE", "example")],
};

export interface EventListOptions extends Part {
  readonly all?: boolean;
  readonly type?: string;
  readonly since?: string;
}

/** Lists what happened, newest first. */
export async function listEvents(
  client: Client,
  { all = false, type = "", since, ...part }: EventListOptions,
  { output, nowSeconds }: { readonly output: Output; nowSeconds(): number },
): Promise<void> {
  const filter = { type, ...(since !== undefined && { since: parsePastTime(since, "--since", nowSeconds()) }) };
  const list = { ...EVENTS, toShown: (event: Event) => event, empty: "No events." };
  const call = all ? eventList : eventListSelf;
  await printPart(output, part, list, (page) => client.call(call, { query: { ...filter, ...page } }));
}

export async function listEventTypes(client: Client, output: Output): Promise<void> {
  const rows = (await client.call(eventTypes, {})).data;
  await printList(output, { ...TYPES, rows, empty: "No types." });
}
