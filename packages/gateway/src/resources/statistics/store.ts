import type { UsagePoint, UsageSubject } from "@fairway/wire";
import type { Kysely } from "kysely";
import { inChunks } from "../../lib/chunks.ts";
import type { Database } from "../../storage/database.ts";
import type { Schema } from "../../storage/schema/schema.ts";
import { DAY, DIMENSION, HOUR, type DimensionNumber } from "./dimensions.ts";
import { addRow, emptySums, figuresOf, type Sums, type SumsRow } from "./sums.ts";

/** Which rows: a dimension, of one user or of everyone, in a period whose ends are starts of hours. */
export interface UsageQuery {
  readonly dimension: DimensionNumber;
  /** Undefined = whatever the owner. */
  readonly ownerId: number | undefined;
  /** "" = all subjects. */
  readonly subject: string;
  /** Start of the first and of the last hour. */
  readonly from: number;
  readonly to: number;
  /** Seconds of a point; 0 = no points. */
  readonly interval: number;
  /** Seconds that the clock of the reader is ahead of UTC: where points begin. */
  readonly utcOffset?: number;
  readonly limit: number;
}

export interface UsageAnswer {
  readonly total: Sums;
  readonly subjects: readonly Omit<UsageSubject, "name">[];
  readonly more: number;
}

interface Hours {
  readonly from: number;
  readonly to: number;
}

interface Part {
  readonly span: number;
  readonly from: number;
  /** Excluded. */
  readonly before: number;
}

const SUBJECTS_AT_ONCE = 200;
/** Row of `revisions` with the time (seconds) up to which calls are in the sums. */
export const STATISTICS_UNTIL = "usage-statistics-until";

export type StatisticsStore = ReturnType<typeof createStatisticsStore>;

/** SQL of the sums; long periods are read from the rows of whole days. */
export function createStatisticsStore({ database }: { readonly database: Database }) {
  const { db, raw } = database;
  return {
    async usage(query: UsageQuery): Promise<UsageAnswer> {
      const ranked = await rank(db, query);
      const listed = ranked.slice(0, query.limit);
      const names = listed.map(({ subject }) => subject);
      const [sums, points, total] = await Promise.all([
        readSums(db, query, names),
        query.interval > 0 ? readPoints(db, query, names) : new Map<string, UsagePoint[]>(),
        totalOf(db, query),
      ]);
      return {
        total,
        subjects: names.map((subject) => ({
          subject,
          ...figuresOf(sums.get(subject) ?? emptySums()),
          points: points.get(subject) ?? [],
        })),
        more: ranked.length - listed.length,
      };
    },

    /** Quota of one subject by hour. */
    spending: (dimension: DimensionNumber, subject: string, period: Hours) =>
      readSpending(db, { dimension, subject, period }),

    async completeUntil(): Promise<number> {
      const text = "select revision from revisions where topic = ?";
      const [row] = await raw.rows<{ revision: number }>(text, [STATISTICS_UNTIL]);
      return row?.revision ?? 0;
    },

    names: (table: "users" | "tokens", ids: readonly number[]) => readNames(database, table, ids),
  };
}

async function readSpending(
  db: Kysely<Schema>,
  { dimension, subject, period }: Pick<UsageQuery, "dimension" | "subject"> & { readonly period: Hours },
) {
  const rows = await db
    .selectFrom("usage_statistics")
    .where("span", "=", HOUR)
    .where("dimension", "=", dimension)
    .where("subject", "=", subject)
    .where("start", ">=", period.from)
    .where("start", "<=", period.to)
    .select(["start"])
    .select((eb) => eb.fn.sum<number>("quota").as("quota"))
    .groupBy("start")
    .orderBy("start")
    .execute();
  return rows.map(({ start, quota }) => ({ start, quota: Number(quota) }));
}

async function readNames(
  { raw }: Database,
  table: "users" | "tokens",
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const column = table === "users" ? "username" : "name";
  const names = new Map<number, string>();
  for (const some of inChunks(ids, SUBJECTS_AT_ONCE)) {
    const marks = some.map(() => "?").join(", ");
    const text = `select id, ${column} as name from ${table} where id in (${marks})`;
    for (const { id, name } of await raw.rows<{ id: number; name: string }>(text, some)) names.set(Number(id), name);
  }
  return names;
}

/** Whole days of the period, and the hours before and after them. */
export function partsOf({ from, to }: Pick<UsageQuery, "from" | "to">): Part[] {
  const before = to + HOUR;
  const firstDay = Math.ceil(from / DAY) * DAY;
  const lastDay = Math.floor(before / DAY) * DAY;
  if (firstDay >= lastDay) return [{ span: HOUR, from, before }];
  const parts = [
    { span: HOUR, from, before: firstDay },
    { span: DAY, from: firstDay, before: lastDay },
    { span: HOUR, from: lastDay, before },
  ];
  return parts.filter((part) => part.before > part.from);
}

function rowsIn(db: Kysely<Schema>, query: UsageQuery, part: Part) {
  let rows = db
    .selectFrom("usage_statistics")
    .where("span", "=", part.span)
    .where("dimension", "=", query.dimension)
    .where("start", ">=", part.from)
    .where("start", "<", part.before);
  if (query.ownerId !== undefined) rows = rows.where("owner_id", "=", query.ownerId);
  return query.subject === "" ? rows : rows.where("subject", "=", query.subject);
}

/** Subjects with their quota, most first. */
async function rank(db: Kysely<Schema>, query: UsageQuery): Promise<{ subject: string; quota: number }[]> {
  const sums = new Map<string, number>();
  for (const part of partsOf(query)) {
    const rows = await rowsIn(db, query, part)
      .select(["subject"])
      .select((eb) => eb.fn.sum<number>("quota").as("quota"))
      .groupBy("subject")
      .execute();
    for (const { subject, quota } of rows) sums.set(subject, (sums.get(subject) ?? 0) + Number(quota));
  }
  const ranked = [...sums].map(([subject, quota]) => ({ subject, quota }));
  return ranked.toSorted((a, b) => b.quota - a.quota || (a.subject < b.subject ? -1 : 1));
}

const COLUMNS = [
  "calls",
  "errors",
  "refused",
  "quota",
  "input_tokens",
  "output_tokens",
  "latency",
  "first_token",
] as const;

async function readSums(db: Kysely<Schema>, query: UsageQuery, names: readonly string[]): Promise<Map<string, Sums>> {
  const sums = new Map<string, Sums>();
  for (const some of inChunks(names, SUBJECTS_AT_ONCE)) {
    for (const part of partsOf(query)) {
      const rows = await rowsIn(db, query, part)
        .where("subject", "in", some)
        .select(["subject", ...COLUMNS])
        .execute();
      for (const row of rows) addTo(sums, row.subject, row);
    }
  }
  return sums;
}

async function readPoints(
  db: Kysely<Schema>,
  query: UsageQuery,
  names: readonly string[],
): Promise<Map<string, UsagePoint[]>> {
  const points = new Map<string, Map<number, Sums>>();
  const { interval, utcOffset: offset = 0 } = query;
  // Rows of whole days begin at midnight in UTC; days of other clocks are summed from hours.
  const span = interval === DAY && offset === 0 ? DAY : HOUR;
  const startOf = (time: number) => Math.floor((time + offset) / interval) * interval - offset;
  const part = { span, from: startOf(query.from), before: query.to + HOUR };
  for (const some of inChunks(names, SUBJECTS_AT_ONCE)) {
    const rows = await rowsIn(db, query, part)
      .where("subject", "in", some)
      .select(["subject", "start", ...COLUMNS])
      .execute();
    for (const row of rows) {
      const ofSubject = points.get(row.subject) ?? new Map<number, Sums>();
      points.set(row.subject, ofSubject);
      addTo(ofSubject, startOf(row.start), row);
    }
  }
  return new Map([...points].map(([subject, sums]) => [subject, pointsOf(sums)]));
}

function pointsOf(sums: ReadonlyMap<number, Sums>): UsagePoint[] {
  return [...sums].toSorted(([a], [b]) => a - b).map(([start, one]) => ({ start, ...figuresOf(one) }));
}

/** The sum over all subjects of the query. Channels count attempts, so their sum differs from the others. */
async function totalOf(db: Kysely<Schema>, query: UsageQuery): Promise<Sums> {
  const isAll = query.subject === "" && query.ownerId === undefined && query.dimension !== DIMENSION.channel;
  const isOwn = query.subject === "" && query.ownerId !== undefined;
  const total = emptySums();
  const of: UsageQuery = isAll
    ? { ...query, dimension: DIMENSION.all }
    : isOwn
      ? { ...query, dimension: DIMENSION.user }
      : query;
  for (const part of partsOf(query)) {
    const rows = await rowsIn(db, of, part).select(COLUMNS).execute();
    for (const row of rows) addRow(total, row);
  }
  return total;
}

function addTo<K>(sums: Map<K, Sums>, key: K, row: SumsRow): void {
  const known = sums.get(key) ?? emptySums();
  sums.set(key, known);
  addRow(known, row);
}
