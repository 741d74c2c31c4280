import { LOG_TYPE, type ReportField } from "@fairway/wire";
import { sql } from "kysely";
import { BATCH_CONTENT, readBatchedCalls } from "../../batches/results/log-detail.ts";
import { parseObject } from "../../lib/text/json.ts";
import type { Database } from "../../storage/database.ts";
import type { LogDatabase } from "../../storage/log-database.ts";
import { beginningWith, containing, like } from "../../storage/like.ts";
import type { LogQuery, Period } from "../logs/filter.ts";
import { matching } from "../logs/rows.ts";
import { slicePeriod } from "../logs/slices.ts";
import { addSums } from "./add-sums.ts";
import { listSources, type GroupRow } from "./fields.ts";
import type { Figures, ReportGroups } from "./groups.ts";
import { createReportSums, findSums } from "./sums.ts";

export interface ReportStore {
  /** Adds the calls of a period to the groups. */
  addPeriod(groups: ReportGroups, query: ReportQuery): Promise<void>;
}

export interface ReportQuery {
  readonly by: readonly ReportField[];
  readonly filter: LogQuery;
  /** Epoch seconds, both included. */
  readonly period: Period;
  /** The start of the interval to which the calls belong. */
  readonly start: number;
}

/** Most groups that one statement answers: a client may invent any number of values. */
const MAX_GROUPS_READ = 20_000;

const IS_CALL = sql<number>`type = ${sql.lit(LOG_TYPE.consume)}`;
const FIGURES = {
  calls: sql<number>`count(*)`,
  errors: sql<number>`sum(case when type = ${sql.lit(LOG_TYPE.error)} then 1 else 0 end)`,
  input_tokens: sql<number>`sum(case when ${IS_CALL} then prompt_tokens else 0 end)`,
  output_tokens: sql<number>`sum(case when ${IS_CALL} then completion_tokens else 0 end)`,
  quota: sql<number>`sum(case when ${IS_CALL} then quota else 0 end)`,
};

type SummedRow = GroupRow & Readonly<Record<keyof Figures, number | string>>;

export interface ReportStoreDeps {
  /** Database of the log. */
  readonly logs: LogDatabase;
  /** Database of the sums, users and tokens; the same one unless logs have their own. */
  readonly database: Database;
}

/** Creates the SQL of reports: whole hours come from sums where they answer the question, the rest from the log. */
export function createReportStore({ logs, database }: ReportStoreDeps): ReportStore {
  const sums = createReportSums({ database });
  return {
    async addPeriod(groups, query) {
      const { by, filter, period, start } = query;
      const question = findSums(by, filter);
      const hours = question && (await sums.findHours(period));
      if (!question || !hours) return addRows(logs, groups, query);
      await addSums({ sums, database }, groups, { question, hours, start });
      const edges = [
        { from: period.from, to: hours.from - 1 },
        { from: hours.before, to: period.to },
      ];
      for (const edge of edges.filter(({ from, to }) => from <= to))
        await addRows(logs, groups, { ...query, period: edge });
    },
  };
}

async function addRows(logs: LogDatabase, groups: ReportGroups, query: ReportQuery): Promise<void> {
  for await (const slice of slicePeriod(logs, query.filter, query.period)) {
    const rows = await readGroups(logs, query, slice);
    const isCut = rows.length > MAX_GROUPS_READ;
    for (const row of rows.slice(0, MAX_GROUPS_READ)) groups.add(query.start, row, toFigures(row));
    if (isCut) groups.addRest(query.start, await readRest(logs, query, { slice, rows }));
    await addManifold(logs, groups, query, slice);
  }
}

const TYPES = [LOG_TYPE.consume, LOG_TYPE.error];

/** The most expensive groups come first, so that those left out cost least. */
function readGroups({ db }: LogDatabase, { by, filter }: ReportQuery, slice: Period): Promise<SummedRow[]> {
  const sources = listSources(by);
  let rows = matching(db, filter, slice).where("type", "in", TYPES).select(sources);
  for (const [name, figure] of Object.entries(FIGURES)) rows = rows.select(figure.as(name)) as typeof rows;
  if (sources.length > 0) rows = rows.groupBy(sources);
  return rows
    .orderBy(FIGURES.quota, "desc")
    .limit(MAX_GROUPS_READ + 1)
    .execute() as Promise<unknown> as Promise<SummedRow[]>;
}

/** Returns the sums of the groups that were left out, as the difference from all of them. */
async function readRest(
  database: LogDatabase,
  query: ReportQuery,
  { slice, rows }: { readonly slice: Period; readonly rows: readonly SummedRow[] },
): Promise<Figures> {
  const [all] = await readGroups(database, { ...query, by: [] }, slice);
  const rest = toFigures(all);
  for (const row of rows.slice(0, MAX_GROUPS_READ)) {
    const figures = toFigures(row);
    for (const name of Object.keys(rest) as (keyof Figures)[]) rest[name] -= figures[name];
  }
  return rest;
}

function toFigures(row: SummedRow | undefined): Figures {
  return {
    calls: Number(row?.calls ?? 0),
    errors: Number(row?.errors ?? 0),
    input_tokens: Number(row?.input_tokens ?? 0),
    output_tokens: Number(row?.output_tokens ?? 0),
    quota: Number(row?.quota ?? 0),
  };
}

/** A row of a batch stands for all its items, and the last error of a minute for those that repeated it. */
async function addManifold(
  { db }: LogDatabase,
  groups: ReportGroups,
  { by, filter, start }: ReportQuery,
  slice: Period,
): Promise<void> {
  const rows = await matching(db, filter, slice)
    .where((eb) =>
      eb.or([
        eb.and([eb("type", "=", LOG_TYPE.consume), like("content", beginningWith(BATCH_CONTENT))]),
        eb.and([eb("type", "=", LOG_TYPE.error), like("other", containing('"repeated":'))]),
      ]),
    )
    .select([...listSources(by), "type", "other"])
    .execute();
  for (const row of rows) {
    const more = countMore(row.type, row.other);
    if (more) groups.add(start, row, { ...NOTHING, ...more });
  }
}

const NOTHING: Figures = { calls: 0, errors: 0, input_tokens: 0, output_tokens: 0, quota: 0 };

/** Returns the calls of a row beyond the one that it was counted as. */
function countMore(type: number, text: string): Pick<Figures, "calls" | "errors"> | undefined {
  const other = parseObject(text) ?? {};
  if (type === LOG_TYPE.error) {
    const repeated = other["repeated"];
    if (typeof repeated !== "number" || !Number.isSafeInteger(repeated)) return undefined;
    return { calls: repeated - 1, errors: repeated - 1 };
  }
  const batched = readBatchedCalls(other);
  return batched && { calls: batched.succeeded + batched.failed - 1, errors: batched.failed };
}
