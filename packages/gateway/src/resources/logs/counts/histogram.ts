import { LOG_TYPE, TEST_TOKEN_NAME, type LogHistogram } from "@fairway/wire";
import { sql, type ExpressionBuilder, type Kysely } from "kysely";
import type { Schema } from "../../../storage/tables/schema.ts";
import type { LogQuery, Period } from "../filter.ts";
import { HOUR } from "../../statistics/dimensions.ts";
import { isNearby, isSummed, summed, sumsMark, wholeHours, type Hours } from "./hours.ts";
import type { SumsDeps } from "./sums-deps.ts";
import { closedPeriod } from "./plot-period.ts";
import { readPlotSums } from "./plot-sums.ts";
import type { RowsPart } from "./row-parts.ts";
import { matching } from "../rows.ts";
import { slicePeriod } from "../slices.ts";

interface Bucket {
  readonly start: number;
  readonly count: number;
  readonly errors: number;
  readonly others: number;
}

/** Counts by bucket, to add up the results of several statements. */
type Buckets = Map<number, Bucket>;

const MAX_BUCKETS = 120;
/** Bucket lengths that are easy to read. */
const BUCKET_SECONDS = [1, 5, 10, 30, 60, 300, 900, 1800, HOUR, 10_800, 21_600, 43_200, 86_400, 604_800, 2_592_000];
/** Types of rows that are not calls; rows of type 0 are consumption of older versions. */
const NO_CALLS = [LOG_TYPE.topup, LOG_TYPE.manage, LOG_TYPE.system];
/** All types except consumption, the only type in the hourly sums. */
const OTHER_TYPES = Object.values(LOG_TYPE).filter((type) => type !== LOG_TYPE.consume);

/** Counts rows over time; whole hours of consumption come from the hourly sums if these cover the filter. */
export async function readHistogram(deps: SumsDeps, query: LogQuery): Promise<LogHistogram> {
  const period = await closedPeriod(deps, query);
  const span = period.to - period.from + 1;
  const interval = BUCKET_SECONDS.find((length) => span / length <= MAX_BUCKETS) ?? Math.ceil(span / MAX_BUCKETS);
  const counting: Counting = { deps, query, interval };
  const buckets =
    (await fromLogSums(counting, period)) ??
    (await fromSums(counting, period)) ??
    (await countRows(counting, { period }, new Map()));
  await countOthers(counting, period, buckets);
  return { interval, ...period, buckets: [...buckets.values()].toSorted((a, b) => a.start - b.start) };
}

interface Counting {
  readonly deps: SumsDeps;
  readonly query: LogQuery;
  readonly interval: number;
}

async function fromLogSums(counting: Counting, period: Period): Promise<Buckets | undefined> {
  const { deps, query, interval } = counting;
  const known = await readPlotSums(deps, query, { period, interval });
  if (!known) return undefined;
  const buckets: Buckets = new Map();
  for (const { start, type, log_rows: rows } of known.sums) {
    const count = Number(rows);
    add(buckets, { start: start - (start % interval), count, errors: type === LOG_TYPE.error ? count : 0, others: 0 });
  }
  for (const part of known.parts) await countRows(counting, part, buckets);
  return buckets;
}

/** Counts with the sums of each user and model; returns undefined if the rows have to be counted. */
async function fromSums(counting: Counting, period: Period): Promise<Buckets | undefined> {
  const { deps, query, interval } = counting;
  const isCounted = query.type === LOG_TYPE.unknown || query.type === LOG_TYPE.consume;
  if (interval % HOUR !== 0 || !isCounted || !isSummed(query)) return undefined;
  const hours = await wholeHours(deps, period);
  const known = hours && (await readSums(counting, hours));
  if (!hours || !known) return undefined;
  const { buckets, mark } = known;
  const consumption = { ...counting, query: { ...query, type: LOG_TYPE.consume } };
  if (period.from < hours.from)
    await countRows(consumption, { period: { from: period.from, to: hours.from - 1 } }, buckets);
  if (period.to >= hours.to) await countRows(consumption, { period: { from: hours.to, to: period.to } }, buckets);
  const newest = { period: { from: hours.from, to: hours.to - 1 }, only: isAfter(mark), isWhole: true };
  await countRows(consumption, newest, buckets);
  const others = { period, only: isOther, isWhole: true };
  if (query.type === LOG_TYPE.unknown) await countRows(counting, others, buckets);
  return buckets;
}

async function readSums(
  { deps, query, interval }: Counting,
  hours: Hours,
): Promise<{ readonly buckets: Buckets; readonly mark: number } | undefined> {
  // The statement groups by hour, like the index: buckets would be sorted in a separate table, which takes three times
  // as long.
  const rows = await summed(deps, query, hours)
    .select((eb) => ["created_at", eb.fn.sum<number>("count").as("count"), sumsMark.as("mark")])
    .groupBy("created_at")
    .execute();
  const mark = Number(rows[0]?.mark ?? 0);
  if (rows.length === 0 || !(await isNearby(deps, mark))) return undefined;
  const buckets: Buckets = new Map();
  for (const { created_at, count } of rows)
    add(buckets, { start: created_at - (created_at % interval), count: Number(count), errors: 0, others: 0 });
  return { buckets, mark };
}

async function countRows(
  { deps, query, interval }: Counting,
  { period, only, isWhole }: RowsPart,
  buckets: Buckets,
): Promise<Buckets> {
  const { database } = deps;
  for await (const slice of isWhole ? [period] : slicePeriod(database, query, period)) {
    const rows = matching(database.db, query, slice);
    for (const bucket of await readBuckets(database.db, only ? rows.where(only) : rows, interval)) add(buckets, bucket);
  }
  return buckets;
}

const isAfter = (mark: number) => (eb: ExpressionBuilder<Schema, "logs">) => eb("id", ">", mark);

const isOther = (eb: ExpressionBuilder<Schema, "logs">) => eb("type", "in", OTHER_TYPES);

const isNoCall = (eb: ExpressionBuilder<Schema, "logs">) => eb("type", "in", NO_CALLS);

/** Matches a successful test, which is a row of consumption, as compatible gateways write it. */
const isTest = (eb: ExpressionBuilder<Schema, "logs">) =>
  eb.and([eb("token_name", "=", TEST_TOKEN_NAME), eb("type", "=", LOG_TYPE.consume)]);

/** Counts the rows that are not calls among the counted rows; they are few, and an index has them. */
async function countOthers({ deps, query, interval }: Counting, period: Period, buckets: Buckets): Promise<void> {
  if (query.type === LOG_TYPE.error) return;
  const { db } = deps.database;
  for (const only of query.type === LOG_TYPE.consume ? [isTest] : [isNoCall, isTest]) {
    const rows = matching(db, query, period).where(only);
    for (const { start, count } of await readBuckets(db, rows, interval))
      add(buckets, { start, count: 0, errors: 0, others: count });
  }
}

function add(buckets: Buckets, { start, count, errors, others }: Bucket): void {
  const known = buckets.get(start) ?? { count: 0, errors: 0, others: 0 };
  const sum = { count: known.count + count, errors: known.errors + errors, others: known.others + others };
  buckets.set(start, { start, ...sum });
}

function buildBucketStart(interval: number) {
  return sql<number>`created_at - (created_at % ${sql.lit(interval)})`;
}

async function readBuckets(db: Kysely<Schema>, rows: ReturnType<typeof matching>, interval: number): Promise<Bucket[]> {
  // The second comes first, like in the indexes.
  const isError = sql<number>`sum(case when type = ${sql.lit(LOG_TYPE.error)} then 1 else 0 end)`;
  const bySecond = rows
    .select((eb) => ["created_at", eb.fn.countAll<number>().as("count"), isError.as("errors")])
    .groupBy("created_at");
  const start = buildBucketStart(interval);
  const counted = await db
    .selectFrom(bySecond.as("by_second"))
    .select((eb) => [
      start.as("start"),
      eb.fn.sum<number>("count").as("count"),
      eb.fn.sum<number>("errors").as("errors"),
    ])
    .groupBy(start)
    .execute();
  return counted.map(({ start: at, count, errors }) => ({
    start: Number(at),
    count: Number(count),
    errors: Number(errors),
    others: 0,
  }));
}
