import {
  RECENT_SPAN_CAP,
  USAGE_DIMENSIONS,
  USAGE_SUBJECT_CAP,
  USAGE_SUM_CAP,
  usageForecast,
  usageRecent,
  usageRecentSelf,
  usageStatistics,
  usageStatisticsSelf,
  type OptionValues,
  type UsageDimension,
  type UsageStatistics,
} from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { Database } from "../../storage/database.ts";
import { Refusal } from "../../lib/refusal.ts";
import { cacheUsageRoutes } from "./cache-sums/routes.ts";
import { DAY, findDimension, DIMENSION, HOUR } from "./dimensions.ts";
import { readForecasts } from "./forecast.ts";
import { resolvePeriod } from "./period.ts";
import type { ReadRecent } from "./recent.ts";
import type { StatisticsStore } from "./store.ts";
import { calculateFigures, emptySums } from "./sums.ts";

export interface StatisticsRoutesDeps {
  readonly database: Database;
  readonly options: () => Pick<OptionValues, "QuotaPerUnit">;
  readonly store: StatisticsStore;
  readonly recent: ReadRecent;
  readonly clock: Clock;
  readonly channels: {
    readNames(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
    readAllNames(): Promise<ReadonlyMap<number, string>>;
  };
}

const DEFAULT_SUBJECTS = 20;
const DEFAULT_RECENT = 60;
/** More points than any plot can show; longer periods use days. */
const MAX_HOURS = 31 * 24;

interface StatisticsQuery {
  readonly by: string;
  readonly start_timestamp: number;
  readonly end_timestamp: number;
  readonly interval: number;
  readonly utc_offset: number;
  readonly subject: string;
  readonly limit: number;
  readonly skip: number;
}

export function statisticsRoutes(deps: StatisticsRoutesDeps): Route[] {
  return [
    implement(usageStatistics, async ({ query }) => {
      const found = await answer(deps, query, await findOwner(deps, query));
      return query.idle === 1 && found.by === "channel" ? addIdle(deps, query, found) : found;
    }),
    implement(usageStatisticsSelf, ({ query, caller }) => answer(deps, query, caller.userId)),
    implement(usageForecast, () =>
      readForecasts({ ...deps, quotaPerUnit: () => deps.options().QuotaPerUnit }, seconds(deps.clock)),
    ),
    ...cacheUsageRoutes(deps),
    implement(usageRecent, ({ query }) => recent(deps, query, undefined)),
    implement(usageRecentSelf, ({ query, caller }) => recent(deps, query, caller.userId)),
  ];
}

/** Returns undefined for everyone. No user has the id 0, so an unknown name has no calls. */
async function findOwner(
  { store }: StatisticsRoutesDeps,
  query: { readonly user_id: number; readonly username: string },
): Promise<number | undefined> {
  if (query.user_id > 0) return query.user_id;
  return query.username === "" ? undefined : ((await store.findUserId(query.username)) ?? 0);
}

async function answer(
  deps: StatisticsRoutesDeps,
  query: StatisticsQuery,
  userId: number | undefined,
): Promise<UsageStatistics> {
  const { by, dimension } = dimensionIn(query.by, userId);
  const period = resolvePeriod(query, seconds(deps.clock));
  const { interval, utcOffset } = resolvePoints(query, period);
  const isWholeUser = dimension === DIMENSION.user && userId !== undefined;
  const found = await deps.store.usage({
    dimension,
    ownerId: userId,
    subject: isWholeUser ? String(userId) : query.subject,
    ...period,
    interval,
    utcOffset,
    limit: limitIn(query, interval === 0 ? USAGE_SUM_CAP : USAGE_SUBJECT_CAP),
    skip: Math.max(0, query.skip),
  });
  const names = await loadNames(deps, by, found.subjects);
  return {
    by,
    start_timestamp: period.from,
    end_timestamp: period.to + HOUR - 1,
    interval,
    complete_until: await deps.store.completeUntil(),
    total: calculateFigures(found.total),
    total_points: found.totalPoints,
    subjects: found.subjects.map(({ subject, ...figures }) => {
      const shown = by === "all" ? "" : subject;
      return { subject: shown, name: names.get(Number(subject)) ?? shown, ...figures };
    }),
    more_subjects: found.more,
  };
}

/** Adds channels without attempts after those with some, where the answer lists all that have some. */
async function addIdle(
  { channels }: StatisticsRoutesDeps,
  query: StatisticsQuery,
  found: UsageStatistics,
): Promise<UsageStatistics> {
  if (found.more_subjects > 0 || query.subject !== "" || query.skip > 0) return found;
  const listed = new Set(found.subjects.map(({ subject }) => subject));
  const figures = calculateFigures(emptySums());
  const idle = [...(await channels.readAllNames())]
    .map(([id, name]) => ({ subject: String(id), name, ...figures, points: [] }))
    .filter(({ subject }) => !listed.has(subject));
  const room = limitIn(query, query.interval === 0 ? USAGE_SUM_CAP : USAGE_SUBJECT_CAP) - listed.size;
  return {
    ...found,
    subjects: [...found.subjects, ...idle.slice(0, room)],
    more_subjects: Math.max(0, idle.length - room),
  };
}

type RecentQuery = Pick<StatisticsQuery, "by" | "subject" | "limit"> & { readonly seconds: number };

async function recent(
  deps: StatisticsRoutesDeps,
  query: RecentQuery,
  userId: number | undefined,
): Promise<UsageStatistics> {
  const { by, dimension } = dimensionIn(query.by, userId);
  const span = query.seconds === 0 ? DEFAULT_RECENT : query.seconds;
  if (span < 1 || span > RECENT_SPAN_CAP) throw new Refusal("invalid_parameter", { field: "seconds" });
  const { from, to, total, subjects } = await deps.recent({
    dimension,
    ownerId: userId,
    seconds: span,
    subject: dimension === DIMENSION.user && userId !== undefined ? String(userId) : query.subject,
  });
  const listed = subjects.slice(0, limitIn(query, USAGE_SUM_CAP));
  const names = await loadNames(deps, by, listed);
  return {
    by,
    start_timestamp: from,
    end_timestamp: to,
    interval: 0,
    complete_until: to,
    total: calculateFigures(total),
    total_points: [],
    subjects: listed.map(({ subject, ...sums }) => {
      const shown = by === "all" ? "" : subject;
      return { subject: shown, name: names.get(Number(subject)) ?? shown, ...calculateFigures(sums), points: [] };
    }),
    more_subjects: subjects.length - listed.length,
  };
}

function limitIn({ limit }: Pick<StatisticsQuery, "limit">, cap: number): number {
  return Math.min(cap, limit > 0 ? limit : DEFAULT_SUBJECTS);
}

function dimensionIn(name: string, userId: number | undefined) {
  const by = dimensionNamed(name);
  const dimension = findDimension(by, userId !== undefined);
  if (dimension === undefined) throw new Refusal("invalid_parameter", { field: "by" });
  return { by, dimension };
}

function dimensionNamed(text: string): UsageDimension {
  const by = USAGE_DIMENSIONS.find((name) => name === (text || "all"));
  if (!by) throw new Refusal("invalid_parameter", { field: "by" });
  return by;
}

/** Returns the points; long periods use whole days in UTC, which are already summed. */
function resolvePoints(
  { interval, utc_offset: offset }: StatisticsQuery,
  { from, to }: { readonly from: number; readonly to: number },
): { readonly interval: number; readonly utcOffset: number } {
  if (interval !== 0 && (interval % HOUR !== 0 || DAY % interval !== 0))
    throw new Refusal("invalid_parameter", { field: "interval" });
  if (Math.abs(offset) > DAY) throw new Refusal("invalid_parameter", { field: "utc_offset" });
  const isLong = (to - from) / HOUR > MAX_HOURS;
  if (isLong && interval > 0) return { interval: DAY, utcOffset: 0 };
  return { interval, utcOffset: Math.round(offset / HOUR) * HOUR };
}

/** Returns the names of the subjects; groups and models are already names. */
async function loadNames(
  { store, channels }: StatisticsRoutesDeps,
  by: UsageDimension,
  subjects: readonly { readonly subject: string }[],
): Promise<ReadonlyMap<number, string>> {
  const ids = subjects.map(({ subject }) => Number(subject)).filter((id) => Number.isSafeInteger(id) && id > 0);
  if (ids.length === 0) return new Map();
  if (by === "channel") return channels.readNames(ids);
  if (by === "user") return store.names("users", ids);
  return by === "token" ? store.names("tokens", ids) : new Map();
}
