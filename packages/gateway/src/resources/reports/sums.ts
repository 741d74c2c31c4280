import type { ReportField } from "@fairway/wire";
import { sql } from "kysely";
import { isDeepStrictEqual } from "node:util";
import type { Database } from "../../storage/database.ts";
import { EVERYTHING, type LogQuery, type Period } from "../logs/filter.ts";
import { DAY, HOUR } from "../statistics/dimensions.ts";
import {
  CUBE,
  REPORT_SUMS_GAP,
  REPORT_SUMS_MARK,
  type CubeNumber,
  type SumFigures,
} from "../statistics/report-sums/gather.ts";
import { STATISTICS_MARK } from "../statistics/rollup.ts";
import { splitPeriod, STATISTICS_UNTIL } from "../statistics/store.ts";

/** Which sums answer a question. */
export interface SumsQuestion {
  readonly cube: CubeNumber;
  /** "" without a tag. */
  readonly tagKey: string;
  /** The account whose calls count; undefined = all. */
  readonly ownerId: number | undefined;
  readonly isByOwner: boolean;
}

/** A sum, by what its question groups by; the other texts are "". */
export interface SumRow extends SumFigures {
  readonly owner: number;
  readonly value: string;
  readonly model: string;
}

/** The whole hours of a period that the sums have. */
export interface SummedHours {
  readonly from: number;
  /** Excluded from the hours. */
  readonly before: number;
}

const CUBES: Readonly<Record<string, CubeNumber>> = {
  "": CUBE.all,
  model: CUBE.model,
  group: CUBE.group,
  token: CUBE.token,
  channel: CUBE.channel,
  actor: CUBE.actor,
  end_user: CUBE.endUser,
  tag: CUBE.tag,
  "model,tag": CUBE.tagModel,
};

/** Returns the sums that answer a question; undefined if only the rows of the log do. */
export function findSums(
  by: readonly ReportField[],
  { ownerId, actor, ...filter }: LogQuery,
): SumsQuestion | undefined {
  const owner = filter.user_id > 0 ? filter.user_id : ownerId;
  if (ownerId !== undefined && owner !== ownerId) return undefined;
  if (actor !== undefined || !isDeepStrictEqual({ ...filter, user_id: 0 }, EVERYTHING)) return undefined;
  const rest = by.filter((field) => field !== "user" && field !== "team");
  const [tag, ...more] = rest.filter((field) => field.startsWith("tag:"));
  if (more.length > 0) return undefined;
  const names = rest.map((field) => (field.startsWith("tag:") ? "tag" : field)).toSorted();
  const cube = CUBES[names.join(",")];
  if (cube === undefined) return undefined;
  return { cube, tagKey: tag?.slice("tag:".length) ?? "", ownerId: owner, isByOwner: rest.length < by.length };
}

export type ReportSums = ReturnType<typeof createReportSums>;

/** Creates the SQL that reads the sums of reports. */
export function createReportSums({ database }: { readonly database: Database }) {
  return {
    /** Returns the whole hours of a period whose calls are all in the sums; undefined if there are none. */
    findHours: (period: Period) => findHours(database, period),

    /** Returns the sums of some hours, at most `most` and the most expensive first; calls without a tag are not in them. */
    read: (question: SumsQuestion, hours: SummedHours, most: number) => readSums(database, question, { hours, most }),

    /** Returns the sums of calls that do not have the tag of the question. */
    readUntagged: (question: SumsQuestion, hours: SummedHours) => readUntagged(database, question, hours),

    /** Returns how many values of these days were joined as `~other`. */
    countLeftOut: (question: SumsQuestion, hours: SummedHours) => countLeftOut(database, question, hours),
  };
}

async function findHours({ db }: Database, { from, to }: Period): Promise<SummedHours | undefined> {
  const topics = [STATISTICS_MARK, REPORT_SUMS_MARK, REPORT_SUMS_GAP, STATISTICS_UNTIL];
  const rows = await db.selectFrom("revisions").select(["topic", "revision"]).where("topic", "in", topics).execute();
  const marks = new Map(rows.map(({ topic, revision }) => [topic, revision]));
  // A program that does not know these sums has moved the mark of the statistics without them.
  if (marks.get(STATISTICS_MARK) === undefined || marks.get(STATISTICS_MARK) !== marks.get(REPORT_SUMS_MARK))
    return undefined;
  const first = Math.ceil(Math.max(from, marks.get(REPORT_SUMS_GAP) ?? 0) / HOUR) * HOUR;
  const before = Math.floor((Math.min(to, marks.get(STATISTICS_UNTIL) ?? 0) + 1) / HOUR) * HOUR;
  return first < before ? { from: first, before } : undefined;
}

const FIGURES = {
  calls: sql<number | string>`sum(calls)`,
  errors: sql<number | string>`sum(errors)`,
  input_tokens: sql<number | string>`sum(input_tokens)`,
  output_tokens: sql<number | string>`sum(output_tokens)`,
  quota: sql<number | string>`sum(quota)`,
};

interface Reading {
  readonly hours: SummedHours;
  /** Default: all. */
  readonly most?: number;
  /** False to sum all values of a tag. */
  readonly isByValue?: boolean;
}

/** One statement reads the whole days and the hours before and after them. */
async function readSums(
  { db }: Database,
  { cube, tagKey, ownerId, isByOwner }: SumsQuestion,
  { hours, most, isByValue = true }: Reading,
): Promise<SumRow[]> {
  const columns = [isByOwner ? "owner_id" : undefined, isByValue ? "value" : undefined, "model"] as const;
  const by = columns.filter((name) => name !== undefined);
  let rows = db
    .selectFrom("report_sums")
    .where("cube", "=", cube)
    .where("tag_key", "=", tagKey)
    .where((eb) =>
      eb.or(
        splitPeriod({ from: hours.from, to: hours.before - HOUR }).map(({ span, from, before }) =>
          eb.and([eb("span", "=", span), eb("start", ">=", from), eb("start", "<", before)]),
        ),
      ),
    )
    .select(by)
    .select(Object.entries(FIGURES).map(([name, figure]) => figure.as(name as keyof typeof FIGURES)))
    .groupBy(by);
  if (ownerId !== undefined) rows = rows.where("owner_id", "=", ownerId);
  if (most !== undefined) rows = rows.orderBy(FIGURES.quota, "desc").limit(most);
  return (await rows.execute()).map((row) => toSumRow(row as StoredSum));
}

type StoredSum = Readonly<Record<keyof typeof FIGURES, number | string>> & {
  readonly owner_id?: number;
  readonly value?: string;
  readonly model: string;
};

function toSumRow({ owner_id: owner = 0, value = "", model, ...figures }: StoredSum): SumRow {
  return {
    owner: Number(owner),
    value,
    model,
    calls: Number(figures.calls),
    errors: Number(figures.errors),
    input_tokens: Number(figures.input_tokens),
    output_tokens: Number(figures.output_tokens),
    quota: Number(figures.quota),
  };
}

/** Calls without the tag are all calls less those with it. */
async function readUntagged(database: Database, question: SumsQuestion, hours: SummedHours): Promise<SumRow[]> {
  const cube = question.cube === CUBE.tagModel ? CUBE.model : CUBE.all;
  const all = await readSums(database, { ...question, cube, tagKey: "" }, { hours });
  const tagged = await readSums(database, question, { hours, isByValue: false });
  const name = ({ owner, model }: SumRow) => `${owner} ${model}`;
  const known = new Map(tagged.map((row) => [name(row), row]));
  return all
    .map((row) => subtract(row, known.get(name(row))))
    .filter(({ calls, quota, input_tokens: input }) => calls !== 0 || quota !== 0 || input !== 0);
}

function subtract(row: SumRow, less: SumFigures | undefined): SumRow {
  if (!less) return row;
  return {
    ...row,
    calls: row.calls - less.calls,
    errors: row.errors - less.errors,
    input_tokens: row.input_tokens - less.input_tokens,
    output_tokens: row.output_tokens - less.output_tokens,
    quota: row.quota - less.quota,
  };
}

async function countLeftOut(
  { db }: Database,
  { cube, tagKey, ownerId }: SumsQuestion,
  { from, before }: SummedHours,
): Promise<number> {
  const bounded: readonly (readonly [cube: CubeNumber, key: string])[] =
    cube === CUBE.tagModel
      ? [
          [CUBE.tag, tagKey],
          [CUBE.model, ""],
          [CUBE.tagModel, tagKey],
        ]
      : [[cube, tagKey]];
  const row = await db
    .selectFrom("report_values")
    .select((eb) => eb.fn.sum<number | string | null>("left_out").as("values"))
    .where((eb) => eb.or(bounded.map(([of, key]) => eb.and([eb("cube", "=", of), eb("tag_key", "=", key)]))))
    .where("start", ">=", from - (from % DAY))
    .where("start", "<", before)
    .$if(ownerId !== undefined, (rows) => rows.where("owner_id", "=", ownerId ?? 0))
    .executeTakeFirst();
  return Number(row?.values ?? 0);
}
