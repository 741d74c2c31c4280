import { inChunks } from "../lib/chunks.ts";
import { createHorizon, type Horizon } from "../lib/async/horizon.ts";
import type { RawTransaction } from "../storage/engines/raw.ts";
import { upsertSql } from "../storage/inserts.ts";
import { ENDPOINT_COLUMNS, readEndpoint, readEvent } from "./endpoint-row.ts";
import { FORMATS } from "./formats/formats.ts";
import { isPermitted, isWanted, listOwners } from "./match.ts";
import { findQuietEnd } from "./quiet.ts";
import type { Endpoint, StoredEvent, WebhookDeps } from "./types.ts";

/** The row of `revisions` with the id up to which every event has its deliveries; an export includes it. */
export const FAN_OUT_MARK = "event-fan-out";

/** The databases end a transaction that is idle for 60 s, or that waits for a lock for 10 s. */
const SETTLE_MS = 75_000;
const EVENTS_AT_ONCE = 200;
const IDS_AT_ONCE = 5_000;
const MAX_WAITING_IN_ORDER = 1_000;

const DELIVERY_COLUMNS = [
  "event_id",
  "endpoint_id",
  "redelivery",
  "state",
  "created_ms",
  "next_at_ms",
  "last_error",
  "body_hash",
] as const;
/** The insert of deliveries, which ignores those that there are. */
export const DELIVERIES = {
  table: "webhook_deliveries",
  columns: DELIVERY_COLUMNS,
  key: ["event_id", "endpoint_id", "redelivery"],
} as const;

type Confirm = (tx: RawTransaction) => Promise<void>;

/**
 * Creates the job that gives each new event its deliveries. Ids above the horizon may still get neighbours below them,
 * so these are looked at again; what this process has done already is skipped, and the database ignores the rest.
 */
export function createFanOut(deps: WebhookDeps, elapsed: () => number = () => performance.now()) {
  const { database } = deps;
  const horizon: Horizon = createHorizon(database.kind === "sqlite" ? 0 : SETTLE_MS, elapsed);
  let done = new Set<number>();
  return async function fanOut(signal: AbortSignal, confirm: Confirm): Promise<void> {
    const cursor = await readCursor(deps);
    const fresh: number[] = [];
    let newest = cursor;
    for (;;) {
      const ids = await listIds(deps, newest);
      fresh.push(...ids.filter((id) => !done.has(id)));
      newest = ids.at(-1) ?? newest;
      if (ids.length < IDS_AT_ONCE) break;
    }
    for (const some of inChunks(fresh, EVENTS_AT_ONCE)) {
      signal.throwIfAborted();
      await deliver(deps, await readEvents(deps, some), confirm);
      for (const id of some) done.add(id);
    }
    const settled = horizon.settled(newest);
    if (settled === undefined || settled <= cursor) return;
    await database.raw.transaction(async (tx) => {
      await confirm(tx);
      await tx.run("update revisions set revision = ? where topic = ? and revision = ?", [
        settled,
        FAN_OUT_MARK,
        cursor,
      ]);
    });
    done = new Set([...done].filter((id) => id > settled));
  };
}

async function readCursor({ database: { raw } }: WebhookDeps): Promise<number> {
  const sql = "select revision from revisions where topic = ?";
  const [row] = await raw.rows<{ revision: number }>(sql, [FAN_OUT_MARK]);
  if (row) return row.revision;
  const mark = { table: "revisions", columns: ["topic", "revision"], key: ["topic"] } as const;
  await raw.run(upsertSql(raw.kind, mark), [FAN_OUT_MARK, 0]);
  return 0;
}

async function listIds({ database }: WebhookDeps, after: number): Promise<number[]> {
  const rows = database.db.selectFrom("events").select("id").where("id", ">", after);
  return (await rows.orderBy("id").limit(IDS_AT_ONCE).execute()).map(({ id }) => id);
}

async function readEvents({ database }: WebhookDeps, ids: readonly number[]): Promise<StoredEvent[]> {
  const rows = await database.db
    .selectFrom("events")
    .selectAll()
    .where("id", "in", [...ids])
    .orderBy("id")
    .execute();
  return rows.map(readEvent);
}

async function deliver(deps: WebhookDeps, events: readonly StoredEvent[], confirm: Confirm): Promise<void> {
  const { database, metrics } = deps;
  const endpoints = await listEndpoints(deps, events);
  const waiting = await countWaiting(deps, endpoints);
  const rows = events.flatMap((event) =>
    endpoints
      .filter((endpoint) => isWanted(event, endpoint))
      .map((endpoint) => buildRow({ event, endpoint, waiting, nowMs: deps.clock.now() })),
  );
  await database.raw.transaction(async (tx) => {
    await confirm(tx);
    for (const some of inChunks(rows, EVENTS_AT_ONCE))
      await tx.run(upsertSql(database.kind, DELIVERIES, some.length), some.flat());
  });
  for (const { type } of events) metrics.eventsFannedOut(type);
}

async function listEndpoints(deps: WebhookDeps, events: readonly StoredEvent[]): Promise<Endpoint[]> {
  const { database, options, mailer } = deps;
  const owners = [...new Set(events.flatMap(listOwners))];
  const rows = database.db.selectFrom("webhook_endpoints").select([...ENDPOINT_COLUMNS]);
  const on = await rows.where("owner", "in", owners).where("status", "=", "on").execute();
  const { UserWebhooks: areAllowed } = options();
  return on
    .map(readEndpoint)
    .filter((one) => isPermitted(one, areAllowed) && (one.format !== "mail" || mailer.isConfigured()));
}

/** Counts what waits for endpoints that take events strictly in order. */
async function countWaiting({ database }: WebhookDeps, endpoints: readonly Endpoint[]): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  for (const { id, isOrdered } of endpoints) {
    if (!isOrdered) continue;
    const sql = "select count(*) as n from webhook_deliveries where endpoint_id = ? and state = 'waiting'";
    const [row] = await database.raw.rows<{ n: number }>(sql, [id]);
    counts.set(id, Number(row?.n ?? 0));
  }
  return counts;
}

interface NewDelivery {
  readonly event: StoredEvent;
  readonly endpoint: Endpoint;
  /** Changed by each row of an ordered endpoint. */
  readonly waiting: Map<number, number>;
  readonly nowMs: number;
}

function buildRow({ event, endpoint, waiting, nowMs }: NewDelivery) {
  const count = waiting.get(endpoint.id);
  const isSkipped = count !== undefined && count >= MAX_WAITING_IN_ORDER;
  if (count !== undefined && !isSkipped) waiting.set(endpoint.id, count + 1);
  const quietEnd = event.severity === "critical" ? undefined : findQuietEnd(endpoint.quiet, nowMs);
  const groupMs = FORMATS[endpoint.format].isText ? endpoint.groupSeconds * 1_000 : 0;
  const state = isSkipped ? "skipped" : "waiting";
  const reason = isSkipped ? `more than ${MAX_WAITING_IN_ORDER} events wait for this endpoint` : "";
  return [event.id, endpoint.id, 0, state, nowMs, quietEnd ?? nowMs + groupMs, reason, ""] as const;
}
