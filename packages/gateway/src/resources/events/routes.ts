import { eventList, eventListSelf, eventTypes, resolvePage, type Event } from "@fairway/wire";
import { EVENT_TYPES, findEventType } from "../../events/catalogue.ts";
import { implement, type Route } from "../../http/endpoint.ts";
import type { Database } from "../../storage/database.ts";

/** Matches no row: the column takes ASCII letters only, and a query may have any. */
const UNKNOWN = "-";

interface Wanted {
  readonly type: string;
  /** Epoch seconds. */
  readonly since: number;
  readonly offset: number;
  readonly limit: number;
  readonly userId: number | undefined;
}

/** Creates the lists of events and of their types. */
export function eventRoutes({ database }: { readonly database: Database }): Route[] {
  return [
    implement(eventTypes, () => Object.entries(EVENT_TYPES).map(([type, info]) => ({ type, ...info }))),
    implement(eventListSelf, async ({ query, caller, setTotal }) => {
      const { rows, total } = await listEvents(database, { ...query, ...resolvePage(query), userId: caller.userId });
      setTotal(total);
      return rows;
    }),
    implement(eventList, async ({ query, setTotal }) => {
      const { rows, total } = await listEvents(database, { ...query, ...resolvePage(query), userId: undefined });
      setTotal(total);
      return rows;
    }),
  ];
}

async function listEvents({ db }: Database, { type, since, offset, limit, userId }: Wanted) {
  let rows = db.selectFrom("events");
  if (userId !== undefined) rows = rows.where("user_id", "=", userId);
  if (type !== "") rows = rows.where("type", "=", findEventType(type) ? type : UNKNOWN);
  if (since > 0) rows = rows.where("at_ms", ">=", since * 1_000);
  const { n } = await rows.select((eb) => eb.fn.countAll<number>().as("n")).executeTakeFirstOrThrow();
  const page = await rows
    .select(["id", "type", "at_ms", "severity", "account_id", "team_id", "user_id", "data"])
    .orderBy("id", "desc")
    .limit(limit)
    .offset(offset)
    .execute();
  const shown = page.map((row): Event => ({ ...row, data: JSON.parse(row.data) as Event["data"] }));
  return { rows: shown, total: Number(n) };
}
