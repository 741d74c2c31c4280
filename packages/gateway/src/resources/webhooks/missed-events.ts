import { MAX_RECOVERED_DELIVERIES } from "@fairway/wire";
import type { Database } from "../../storage/database.ts";
import { readEvent } from "../../webhooks/endpoint-row.ts";
import { isWanted } from "../../webhooks/match.ts";
import { parseOwner } from "../../webhooks/owners.ts";
import type { Endpoint } from "../../webhooks/types.ts";

const ROWS_AT_ONCE = 500;

/** Returns events since a time that the endpoint wants and has neither accepted nor waiting, oldest first. */
export async function listMissedEvents(
  { database }: { readonly database: Database },
  endpoint: Endpoint,
  since: number,
): Promise<number[]> {
  const ids: number[] = [];
  let after = 0;
  while (ids.length < MAX_RECOVERED_DELIVERIES) {
    const rows = await listRows(database, endpoint, { since, after });
    ids.push(
      ...rows
        .map(readEvent)
        .filter((event) => isWanted(event, { ...endpoint, createdAt: 0 }))
        .map(({ id }) => id),
    );
    const last = rows.at(-1);
    if (!last || rows.length < ROWS_AT_ONCE) break;
    after = last.id;
  }
  return ids.slice(0, MAX_RECOVERED_DELIVERIES);
}

function listRows({ db }: Database, { id, owner }: Endpoint, { since, after }: { since: number; after: number }) {
  const of = parseOwner(owner);
  let rows = db
    .selectFrom("events as e")
    .selectAll("e")
    .where("e.id", ">", after)
    .where("e.at_ms", ">=", since * 1_000)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("webhook_deliveries as d")
            .select("d.id")
            .whereRef("d.event_id", "=", "e.id")
            .where("d.endpoint_id", "=", id)
            .where("d.state", "in", ["done", "waiting"]),
        ),
      ),
    );
  if (of.scope === "user") rows = rows.where("e.user_id", "=", of.id);
  if (of.scope === "team") rows = rows.where("e.team_id", "=", of.id);
  return rows.orderBy("e.id").limit(ROWS_AT_ONCE).execute();
}
