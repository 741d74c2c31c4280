import {
  CACHE_USAGE_CAP,
  CACHE_USAGE_GROUPS,
  cacheUsage,
  cacheUsageSelf,
  type CacheUsage,
  type CacheUsageGroup,
} from "@fairway/wire";
import { implement, type Route } from "../../../http/endpoint.ts";
import { seconds, type Clock } from "../../../lib/clock.ts";
import { Refusal } from "../../../lib/refusal.ts";
import type { Database } from "../../../storage/database.ts";
import { resolvePeriod } from "../period.ts";
import type { StatisticsStore } from "../store.ts";
import { readCacheUsage, type CacheUsageSum } from "./store.ts";

/** What a user may see: not which channel serves it. */
const OWN_GROUPS = ["token", "model"] as const;

interface CacheUsageDeps {
  readonly database: Database;
  readonly store: StatisticsStore;
  readonly clock: Clock;
  readonly channels: { readNames(ids: readonly number[]): Promise<ReadonlyMap<number, string>> };
}

interface CacheQuery {
  readonly by: string;
  readonly start_timestamp: number;
  readonly end_timestamp: number;
}

export function cacheUsageRoutes(deps: CacheUsageDeps): Route[] {
  return [
    implement(cacheUsage, async ({ query }) => {
      const userId = query.username === "" ? undefined : ((await deps.store.findUserId(query.username)) ?? 0);
      return answer(deps, query, { userId, groups: CACHE_USAGE_GROUPS });
    }),
    implement(cacheUsageSelf, ({ query, caller }) =>
      answer(deps, query, { userId: caller.userId, groups: OWN_GROUPS }),
    ),
  ];
}

async function answer(
  deps: CacheUsageDeps,
  query: CacheQuery,
  { userId, groups }: { readonly userId: number | undefined; readonly groups: readonly CacheUsageGroup[] },
): Promise<CacheUsage[]> {
  const groupBy = readGroups(query.by, groups);
  const period = resolvePeriod(query, seconds(deps.clock));
  const found = await readCacheUsage(deps.database, { userId, groupBy, ...period, limit: CACHE_USAGE_CAP });
  const [only, ...others] = groupBy;
  const findName = others.length === 0 ? await loadNames(deps, only, found) : () => "";
  return found.map((row) => ({ ...row, name: findName(row) }));
}

function readGroups(by: string, groups: readonly CacheUsageGroup[]): CacheUsageGroup[] {
  if (by === "") return [...groups];
  if (by === "all") return [];
  const names = new Set(by.split(","));
  const known = groups.filter((group) => names.has(group));
  if (known.length !== names.size) throw new Refusal("invalid_parameter", { field: "by" });
  return known;
}

async function loadNames(
  { store, channels }: CacheUsageDeps,
  group: CacheUsageGroup | undefined,
  rows: readonly CacheUsageSum[],
): Promise<(row: CacheUsageSum) => string> {
  if (group === undefined || group === "model") return ({ model }) => model;
  const readId = (row: CacheUsageSum) => (group === "channel" ? row.channel_id : row.token_id);
  const ids = rows.map(readId).filter((id) => id > 0);
  if (ids.length === 0) return () => "";
  const names = group === "channel" ? await channels.readNames(ids) : await store.names("tokens", ids);
  return (row) => names.get(readId(row)) ?? "";
}
