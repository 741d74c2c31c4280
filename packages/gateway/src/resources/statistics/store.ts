import { ACCOUNT_KIND, type UsagePoint, type UsageSubject } from "@fairway/wire";
import type { Kysely } from "kysely";
import { inChunks } from "../../lib/chunks.ts";
import type { Database } from "../../storage/database.ts";
import type { RawDatabase } from "../../storage/engines/raw.ts";
import { readRowNames } from "../../storage/row-names.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { findNamedAccounts } from "../../teams/wallet-names.ts";
import { DAY, DIMENSION, HOUR, type DimensionNumber } from "./dimensions.ts";
import { LATER_SUMS_GAP } from "./facet-sums.ts";
import { addRow, addSums, emptySums, calculateFigures, type Sums, type SumsRow } from "./sums.ts";

/** The rows to read: a dimension, of one user or everyone, in a period that starts and ends with whole hours. */
export interface UsageQuery {
  readonly dimension: DimensionNumber;
  /** Undefined = any owner. */
  readonly ownerId: number | undefined;
  /** "" = all subjects. */
  readonly subject: string;
  /** Start of the first and of the last hour. */
  readonly from: number;
  readonly to: number;
  /** Seconds of a point; 0 = no points. */
  readonly interval: number;
  /** Seconds that the reader's clock is ahead of UTC; sets where points begin. */
  readonly utcOffset?: number;
  readonly limit: number;
  /** Subjects with a higher quota that are left out. */
  readonly skip?: number;
}

export interface UsageAnswer {
  readonly total: Sums;
  readonly totalPoints: UsagePoint[];
  readonly subjects: readonly Omit<UsageSubject, "name">[];
  readonly more: number;
}

interface Hours {
  readonly from: number;
  readonly to: number;
}

/** Sums of one subject, by the start of their point. */
type Points = ReadonlyMap<number, Sums>;

interface Part {
  readonly span: number;
  readonly from: number;
  /** Excluded from the period. */
  readonly before: number;
}

const SUBJECTS_AT_ONCE = 20;
/** Row of `revisions` with the time (seconds) up to which calls are in the sums. */
export const STATISTICS_UNTIL = "usage-statistics-until";

export type StatisticsStore = ReturnType<typeof createStatisticsStore>;

/** Creates the SQL of the sums; long periods are read from the rows of whole days. */
export function createStatisticsStore({ database }: { readonly database: Database }) {
  const { db, raw } = database;
  return {
    async usage(query: UsageQuery): Promise<UsageAnswer> {
      const [ranked, total] = await Promise.all([rank(raw, query), readTotal(db, query)]);
      const rest = ranked.slice(query.skip ?? 0);
      const listed = rest.slice(0, query.limit);
      const points = await readPoints(db, query, listed);
      return {
        total: sumPoints(total),
        totalPoints: query.interval > 0 ? listPoints(total) : [],
        subjects: listed.map(({ subject }) => ({
          subject,
          ...calculateFigures(sumPoints(points.get(subject))),
          points: query.interval > 0 ? listPoints(points.get(subject)) : [],
        })),
        more: rest.length - listed.length,
      };
    },

    /** Returns the quota of one subject by hour. */
    spending: (dimension: DimensionNumber, subject: string, period: Hours) =>
      readSpending(db, { dimension, subject, period }),

    async completeUntil(): Promise<number> {
      const text = "select revision from revisions where topic = ?";
      const [row] = await raw.rows<{ revision: number }>(text, [STATISTICS_UNTIL]);
      return row?.revision ?? 0;
    },

    /** Finds a person by name, or the wallet of a team by `team:SLUG`. */
    async findUserId(username: string): Promise<number | undefined> {
      const named = await findNamedAccounts(db, username);
      if ("wallet" in named) return named.wallet;
      const persons = db.selectFrom("users").select("id").where("kind", "=", ACCOUNT_KIND.person);
      const row = await persons.where("username", "=", username).executeTakeFirst();
      return row?.id;
    },

    names: (table: "users" | "tokens", ids: readonly number[]) => readRowNames(raw, table, ids),
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

/** Splits the period into whole days and the hours before and after them. */
export function splitPeriod({ from, to }: Pick<UsageQuery, "from" | "to">): Part[] {
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

/** A subject of the period. A token has one owner, and so does a user; other subjects belong to everyone. */
interface Ranked {
  readonly subject: string;
  readonly owner: number;
  readonly quota: number;
}

interface RankedRow {
  readonly named: string | number;
  readonly owner: number;
  readonly quota: number;
}

/** Dimensions whose subjects are ids. */
const BY_ID: readonly DimensionNumber[] = [DIMENSION.user, DIMENSION.token, DIMENSION.channel];

/** Returns the subjects, highest quota first. */
async function rank(raw: RawDatabase, query: UsageQuery): Promise<Ranked[]> {
  const { dimension, ownerId, subject } = query;
  const text = rankSql(raw.kind, query);
  const more = [...(ownerId === undefined ? [] : [ownerId]), ...(subject === "" ? [] : [subject])];
  const sums = new Map<string, Ranked>();
  for (const { span, from, before } of splitPeriod(query)) {
    for (const row of await raw.rows<RankedRow>(text, [span, dimension, from, before, ...more])) {
      const named = String(row.named);
      const quota = (sums.get(named)?.quota ?? 0) + Number(row.quota);
      sums.set(named, { subject: named, owner: Number(row.owner), quota });
    }
  }
  return [...sums.values()].toSorted((a, b) => b.quota - a.quota || (a.subject < b.subject ? -1 : 1));
}

function rankSql(kind: RawDatabase["kind"], { dimension, ownerId, subject }: UsageQuery): string {
  const isOfAll = ownerId === undefined;
  // MySQL and MariaDB would read whole rows with their percentiles, although the other index has all the columns.
  const hint = kind === "mysql" && isOfAll ? " ignore index (primary)" : "";
  // Grouping by numbers takes a quarter less time.
  const name = kind === "mysql" && BY_ID.includes(dimension) ? "cast(subject as unsigned)" : "subject";
  return `select ${name} as named, min(owner_id) as owner, sum(quota) as quota from usage_statistics${hint}
    where span = ? and dimension = ? and start >= ? and start < ?${isOfAll ? "" : " and owner_id = ?"}${subject === "" ? "" : " and subject = ?"}
    group by ${name}`;
}

/**
 * Selects rows of some subjects by the primary key, which begins with the owner. If both were lists, PostgreSQL would
 * try each owner with each subject.
 */
function selectSubjectRows(db: Kysely<Schema>, query: UsageQuery, part: Part, some: readonly Ranked[]) {
  return rowsIn(db, query, part).where((eb) =>
    eb.or(some.map(({ owner, subject }) => eb.and([eb("owner_id", "=", owner), eb("subject", "=", subject)]))),
  );
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

/** Returns the start of a row's point. Without an interval, all rows are one point. */
function findPointStart(time: number, { from, interval, utcOffset = 0 }: UsageQuery): number {
  if (interval === 0) return from;
  return Math.floor((time + utcOffset) / interval) * interval - utcOffset;
}

/**
 * Returns the parts of a query: whole days if a day is within one point, otherwise hours. Both are within the period.
 */
function splitIntoParts(query: UsageQuery): Part[] {
  const { from, to, interval, utcOffset = 0 } = query;
  const isDayInOnePoint = interval === 0 || (interval === DAY && utcOffset === 0);
  return isDayInOnePoint ? splitPeriod(query) : [{ span: HOUR, from, before: to + HOUR }];
}

/** Returns each subject's sums by point. They add up to its sum over the period, whichever rows they were read from. */
async function readPoints(
  db: Kysely<Schema>,
  query: UsageQuery,
  listed: readonly Ranked[],
): Promise<ReadonlyMap<string, Points>> {
  const points = new Map<string, Map<number, Sums>>();
  for (const some of inChunks(listed, SUBJECTS_AT_ONCE)) {
    for (const part of splitIntoParts(query)) {
      const rows = await selectSubjectRows(db, query, part, some)
        .select(["subject", "start", ...COLUMNS])
        .execute();
      for (const row of rows) {
        const ofSubject = points.get(row.subject) ?? new Map<number, Sums>();
        points.set(row.subject, ofSubject);
        addTo(ofSubject, findPointStart(row.start, query), row);
      }
    }
  }
  return points;
}

function listPoints(points: Points = new Map()): UsagePoint[] {
  return [...points].toSorted(([a], [b]) => a - b).map(([start, one]) => ({ start, ...calculateFigures(one) }));
}

function sumPoints(points: Points = new Map()): Sums {
  const sum = emptySums();
  for (const one of points.values()) addSums(sum, one);
  return sum;
}

/**
 * Returns the sums over all subjects of the query, by point. Channels count attempts, so their sum differs from the
 * others.
 */
async function readTotal(db: Kysely<Schema>, query: UsageQuery): Promise<Points> {
  const points = new Map<number, Sums>();
  for (const one of await totalQueries(db, query)) {
    for (const part of splitIntoParts(one)) {
      const rows = await rowsIn(db, one, part)
        .select(["start", ...COLUMNS])
        .execute();
      for (const row of rows) addTo(points, findPointStart(row.start, query), row);
    }
  }
  return points;
}

async function totalQueries(db: Kysely<Schema>, query: UsageQuery): Promise<UsageQuery[]> {
  if (query.subject !== "") return [query];
  if (query.ownerId !== undefined) return [{ ...query, dimension: DIMENSION.user }];
  if (query.dimension !== DIMENSION.channel) return [{ ...query, dimension: DIMENSION.all }];
  const topic = db.selectFrom("revisions").select("revision").where("topic", "=", LATER_SUMS_GAP);
  const gap = Math.ceil(((await topic.executeTakeFirst())?.revision ?? 0) / HOUR) * HOUR;
  const from = Math.max(query.from, gap);
  const parts = [
    { ...query, to: Math.min(query.to, from - HOUR) },
    { ...query, from, dimension: DIMENSION.attempts },
  ];
  return parts.filter((part) => part.from <= part.to);
}

function addTo<K>(sums: Map<K, Sums>, key: K, row: SumsRow): void {
  const known = sums.get(key) ?? emptySums();
  sums.set(key, known);
  addRow(known, row);
}
