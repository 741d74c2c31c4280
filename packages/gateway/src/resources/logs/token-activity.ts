import { LOG_FACET_SAMPLE, LOG_TYPE, type TokenActivity } from "@fairway/wire";
import type { LogDatabase } from "../../storage/log-database.ts";
import { EVERYTHING, toPeriod, type LogQuery } from "./filter.ts";
import { newestFirst } from "./rows.ts";
import { slicePeriod } from "./slices.ts";

export interface ActivityQuery {
  readonly ownerId: number;
  readonly tokenId: number;
  readonly start_timestamp: number;
  readonly end_timestamp: number;
}

const MAX_LISTED = 20;
const COLUMNS = ["ip", "model_name", "type"] as const;

interface Sum {
  calls: number;
  errors: number;
  quota: number;
  first: number;
  last: number;
}

/** Counts the newest calls of one token by address and by model. */
export async function readTokenActivity(database: LogDatabase, asked: ActivityQuery): Promise<TokenActivity> {
  const { ownerId, tokenId, start_timestamp, end_timestamp } = asked;
  const query: LogQuery = { ...EVERYTHING, ownerId, token_id: tokenId, start_timestamp, end_timestamp };
  const addresses = new Map<string, Sum>();
  const models = new Map<string, Sum>();
  let left = LOG_FACET_SAMPLE;
  for await (const slice of slicePeriod(database, query, toPeriod(query))) {
    if (left <= 0) break;
    const newest = newestFirst(database.db, query, slice)
      .where("type", "in", [LOG_TYPE.consume, LOG_TYPE.error])
      .select([...COLUMNS, "quota", "created_at"])
      .limit(left);
    const rows = await database.db
      .selectFrom(newest.as("newest"))
      .select(COLUMNS)
      .select((eb) => [
        eb.fn.countAll<number>().as("calls"),
        eb.fn.sum<number>("quota").as("quota"),
        eb.fn.min("created_at").as("first"),
        eb.fn.max("created_at").as("last"),
      ])
      .groupBy(COLUMNS)
      .execute();
    for (const row of rows) {
      const calls = Number(row.calls);
      const errors = row.type === LOG_TYPE.error ? calls : 0;
      const sum = { calls, errors, quota: Number(row.quota), first: Number(row.first), last: Number(row.last) };
      add(addresses, row.ip, sum);
      add(models, row.model_name, sum);
      left -= calls;
    }
  }
  const byCalls = [...addresses].sort(([, a], [, b]) => b.calls - a.calls || b.last - a.last);
  const byCost = [...models].sort(([, a], [, b]) => b.quota - a.quota || b.calls - a.calls);
  return {
    complete: left > 0,
    addresses: byCalls.slice(0, MAX_LISTED).map(([ip, sum]) => ({ ip, ...sum })),
    address_count: addresses.size,
    models: byCost
      .slice(0, MAX_LISTED)
      .map(([model, { calls, errors, quota, last }]) => ({ model, calls, errors, quota, last })),
  };
}

function add(sums: Map<string, Sum>, name: string, { calls, errors, quota, first, last }: Sum): void {
  const sum = sums.get(name) ?? { calls: 0, errors: 0, quota: 0, first, last };
  sums.set(name, {
    calls: sum.calls + calls,
    errors: sum.errors + errors,
    quota: sum.quota + quota,
    first: Math.min(sum.first, first),
    last: Math.max(sum.last, last),
  });
}
