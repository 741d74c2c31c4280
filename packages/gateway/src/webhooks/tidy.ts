import type { WebhookDeps } from "./types.ts";

const DAY_MS = 24 * 3_600_000;
const EVENT_DAYS = 90;
const DELIVERY_DAYS = 30;
const MAX_ROWS = 1_000_000;
const ROWS_AT_ONCE = 1_000;

type TidyDeps = Pick<WebhookDeps, "database" | "clock" | "metrics">;

interface Retained {
  readonly table: "events" | "webhook_deliveries";
  readonly time: "at_ms" | "created_ms";
  readonly days: number;
}

const RETAINED: readonly Retained[] = [
  { table: "webhook_deliveries", time: "created_ms", days: DELIVERY_DAYS },
  { table: "events", time: "at_ms", days: EVENT_DAYS },
];

/** Removes old events and deliveries in small steps; of each, the newest million stays at most. */
export async function tidyEvents({ database: { raw }, clock }: TidyDeps, signal: AbortSignal, maxRows = MAX_ROWS) {
  for (const { table, time, days } of RETAINED) {
    const before = clock.now() - days * DAY_MS;
    const [newest] = await raw.rows<{ id: number | null }>(`select max(id) as id from ${table}`, []);
    const lowest = (newest?.id ?? 0) - maxRows;
    for (;;) {
      signal.throwIfAborted();
      const found = await raw.rows<{ id: number }>(
        `select id from ${table} where ${time} < ? or id <= ? order by id limit ${ROWS_AT_ONCE}`,
        [before, lowest],
      );
      const last = found.at(-1);
      if (!last) break;
      const marks = found.map(() => "?").join(", ");
      await raw.run(
        `delete from ${table} where id in (${marks})`,
        found.map(({ id }) => id),
      );
      if (found.length < ROWS_AT_ONCE) break;
    }
  }
}

/** Measures how long the oldest due message has waited for an endpoint that could get it. */
export async function measureBacklog({ database: { raw }, clock, metrics }: TidyDeps): Promise<void> {
  const now = clock.now();
  const [row] = await raw.rows<{ oldest: number | null }>(
    "select min(d.next_at_ms) as oldest from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id where d.state = 'waiting' and d.next_at_ms <= ? and e.status = 'on' and e.next_at_ms <= ?",
    [now, now],
  );
  metrics.webhookBacklog(row?.oldest ? (now - Number(row.oldest)) / 1_000 : 0);
}
