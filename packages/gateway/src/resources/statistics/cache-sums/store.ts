import type { CacheUsageGroup } from "@fairway/wire";
import type { Database } from "../../../storage/database.ts";
import { CACHE_FIGURES, type CacheFigures } from "./gather.ts";

export interface CacheUsageQuery {
  /** Undefined = everyone. */
  readonly userId: number | undefined;
  readonly groupBy: readonly CacheUsageGroup[];
  /** Start of the first and of the last hour. */
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

export interface CacheUsageSum extends CacheFigures {
  readonly channel_id: number;
  readonly token_id: number;
  readonly model: string;
}

const COLUMN = { channel: "channel_id", token: "token_id", model: "model" } as const;

/** Sums a period by some columns, most cached tokens first; the others are 0 or "". */
export async function readCacheUsage(
  { db }: Pick<Database, "db">,
  { userId, groupBy, from, to, limit }: CacheUsageQuery,
): Promise<CacheUsageSum[]> {
  const columns = groupBy.map((group) => COLUMN[group]);
  let rows = db.selectFrom("cache_sums").where("start", ">=", from).where("start", "<=", to);
  if (userId !== undefined) rows = rows.where("user_id", "=", userId);
  const found = await rows
    .select(columns)
    .select((eb) => CACHE_FIGURES.map((name) => eb.fn.sum<number | null>(name).as(name)))
    .$if(columns.length > 0, (some) => some.groupBy(columns))
    .orderBy("cached_tokens", "desc")
    .orderBy("requests", "desc")
    .limit(limit)
    .execute();
  return found.map((row) => ({
    channel_id: Number(row.channel_id ?? 0),
    token_id: Number(row.token_id ?? 0),
    model: row.model ?? "",
    ...readFigures(row),
  }));
}

/** A sum of no rows is null. */
function readFigures(row: Readonly<Partial<Record<keyof CacheFigures, number | null>>>): CacheFigures {
  const entries = CACHE_FIGURES.map((name) => [name, Number(row[name] ?? 0)]);
  return Object.fromEntries(entries) as CacheFigures;
}
