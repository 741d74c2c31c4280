import type { RawDatabase } from "../../storage/engines/raw.ts";
import { inList } from "../../storage/statements.ts";
import { readEvent } from "../endpoint-row.ts";
import { FORMATS } from "../formats/formats.ts";
import type { Endpoint, StoredEvent } from "../types.ts";

/** A delivery whose time has come, with its event. */
export interface DueDelivery {
  readonly id: number;
  readonly attempts: number;
  readonly redelivery: number;
  readonly event: StoredEvent;
}

interface Row {
  readonly id: number;
  readonly event_id: number;
  readonly attempts: number;
  readonly redelivery: number;
  readonly next_at_ms: number;
}

/** Events that one message of a text format contains at most; the next message has the rest. */
const MAX_JOINED = 500;
/** Events of one endpoint that are read at once and sent one by one. */
const MAX_SINGLE = 20;
const COLUMNS = "id, event_id, attempts, redelivery, next_at_ms";

/**
 * Returns the messages that an endpoint gets now, each with its deliveries. Text formats join everything that is due,
 * and what arrived since of the same type and owner.
 */
export async function chooseMessages(raw: RawDatabase, endpoint: Endpoint, nowMs: number): Promise<DueDelivery[][]> {
  const rows = await listRows(raw, endpoint, nowMs);
  const due = await withEvents(raw, rows);
  if (!FORMATS[endpoint.format].isText) return due.map((one) => [one]);
  const ripe = new Set(due.filter(({ next }) => next <= nowMs).map(({ event }) => groupKey(event)));
  const joined = due.filter(({ event, next }) => next <= nowMs || ripe.has(groupKey(event)));
  return joined.length === 0 ? [] : [joined];
}

async function listRows(raw: RawDatabase, endpoint: Endpoint, nowMs: number): Promise<Row[]> {
  const from = `select ${COLUMNS} from webhook_deliveries where endpoint_id = ? and state = 'waiting'`;
  if (FORMATS[endpoint.format].isText) {
    // What waits for its first attempt may join; what failed waits for its own time.
    const sql = `${from} and (next_at_ms <= ? or (attempts = 0 and next_at_ms <= ?)) order by event_id, id limit ${MAX_JOINED}`;
    return raw.rows<Row>(sql, [endpoint.id, nowMs, nowMs + endpoint.groupSeconds * 1_000]);
  }
  if (!endpoint.isOrdered)
    return raw.rows<Row>(`${from} and next_at_ms <= ? order by event_id, id limit ${MAX_SINGLE}`, [endpoint.id, nowMs]);
  const rows = await raw.rows<Row>(`${from} order by event_id, id limit ${MAX_SINGLE}`, [endpoint.id]);
  const wait = rows.findIndex((row) => row.next_at_ms > nowMs);
  return wait === -1 ? rows : rows.slice(0, wait);
}

async function withEvents(
  raw: RawDatabase,
  rows: readonly Row[],
): Promise<(DueDelivery & { readonly next: number })[]> {
  if (rows.length === 0) return [];
  const { marks, values } = inList(rows.map((row) => row.event_id));
  const found = await raw.rows<Parameters<typeof readEvent>[0]>(`select * from events where id in ${marks}`, values);
  const events = new Map(found.map((row) => [row.id, readEvent(row)]));
  return rows.flatMap(({ event_id: eventId, next_at_ms: next, ...row }) => {
    const event = events.get(eventId);
    return event ? [{ ...row, event, next }] : [];
  });
}

function groupKey({ type, team_id: team, user_id: user }: StoredEvent): string {
  return `${type} ${team} ${user}`;
}
