import { OTHER_VALUE, type ReportRow, type UsageReport } from "@fairway/wire";
import { assignColours, REST_COLOUR } from "../../ui/chart/colours.ts";
import type { ChartSeries, ChartSlot } from "../../ui/chart/types.ts";

export const METRICS = ["quota", "tokens", "calls"] as const;
export type Metric = (typeof METRICS)[number];

export const INTERVALS = ["none", "hour", "day", "week", "month"] as const;
export type Interval = (typeof INTERVALS)[number];

const NOTHING = { calls: 0, errors: 0, input_tokens: 0, output_tokens: 0, quota: 0 };

export type Figures = Readonly<typeof NOTHING> & {
  /** What a row bears of the cost of others; negative for one whose cost they bear. */
  readonly shared?: unknown;
};

export function readShared({ shared }: Pick<Figures, "shared">): number {
  return typeof shared === "number" ? shared : 0;
}

/** Returns an amount of a row; its cost is that with what it shares. */
export function readMetric(figures: Figures, metric: Metric): number {
  if (metric === "tokens") return figures.input_tokens + figures.output_tokens;
  return metric === "quota" ? figures.quota + readShared(figures) : figures[metric];
}

/** Sums rows, so that what a table leaves out is one row of it. */
export function sumFigures(rows: readonly Figures[]): Figures {
  const sum = { ...NOTHING, shared: 0 };
  for (const row of rows) {
    for (const name of Object.keys(NOTHING) as (keyof typeof NOTHING)[]) sum[name] += row[name];
    sum.shared += readShared(row);
  }
  return sum;
}

/** True if rows of a report bear the cost of others. */
export function hasSharedCost({ columns }: Pick<UsageReport, "columns">): boolean {
  return columns.includes("shared");
}

/** Returns the columns that tell what a row is about; an id is shown only where its name is missing. */
export function listNameColumns({ columns }: UsageReport): readonly string[] {
  const names = columns.slice(1, columns.indexOf("calls"));
  return names.filter((name) => !(name.endsWith("_id") && names.includes(name.slice(0, -"_id".length))));
}

interface Words {
  readonly other: string;
  readonly none: string;
  /** Names of people and service accounts by the marks that rows have. */
  readonly holders?: ReadonlyMap<string, string>;
}

/** Returns the text of a member of a row. */
export function readText(row: ReportRow, column: string): string {
  const value = row[column];
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Returns the text of a cell: the name, the id of what has none, or the words for calls without one. */
export function formatValue(row: ReportRow, column: string, { other, none, holders }: Words): string {
  const value = readText(row, column);
  if (value === OTHER_VALUE) return other;
  if (column === "actor") return holders?.get(value) ?? (value === "" ? none : value);
  if (value !== "") return value;
  const id = Number(row[`${column}_id`] ?? 0);
  return id > 0 ? `#${id}` : none;
}

export function formatLabel(row: ReportRow, columns: readonly string[], words: Words): string {
  return columns.map((column) => formatValue(row, column, words)).join(" · ");
}

/** How many series a chart has at most, the rest included. */
const MAX_SERIES = 13;
/** Key of the rest; no value has a line break. */
const REST = "\n";

export interface Series extends ChartSeries {
  readonly total: number;
}

/** Returns the largest groups with a colour each, and all others as one series. */
export function buildSeries(
  report: UsageReport,
  metric: Metric,
  { rest, ...words }: Words & { readonly rest: string },
): readonly Series[] {
  const columns = listNameColumns(report);
  const totals = new Map<string, number>();
  for (const row of report.rows) {
    const label = formatLabel(row, columns, words);
    totals.set(label, (totals.get(label) ?? 0) + readMetric(row, metric));
  }
  const used = [...totals].filter(([, total]) => total > 0).toSorted(([, one], [, other]) => other - one);
  const named = used.length > MAX_SERIES ? used.slice(0, MAX_SERIES - 1) : used;
  const colours = assignColours(named.map(([label]) => label));
  const series = named.map(([label, total]): Series => ({
    key: label,
    label,
    colour: colours.get(label) ?? REST_COLOUR,
    total,
  }));
  if (named.length === used.length) return series;
  const total = used.slice(named.length).reduce((sum, [, one]) => sum + one, 0);
  return [...series, { key: REST, label: rest, colour: REST_COLOUR, total }];
}

/** Divides the amounts of a report among its intervals and the series. */
export function buildSlots(
  report: UsageReport,
  series: readonly Series[],
  asked: { readonly metric: Metric; readonly interval: Interval; readonly words: Words },
): ChartSlot[] {
  const columns = listNameColumns(report);
  const known = new Set(series.map(({ key }) => key));
  const starts = listStarts(report, asked.interval);
  const values = starts.map((): Record<string, number> => ({}));
  for (const row of report.rows) {
    const label = formatLabel(row, columns, asked.words);
    const key = known.has(label) ? label : REST;
    const place = values[starts.findLastIndex((start) => start <= row.start)];
    if (place && known.has(key)) place[key] = (place[key] ?? 0) + readMetric(row, asked.metric);
  }
  return starts.map((start, at) => ({ start, end: starts[at + 1] ?? report.end, values: values[at] ?? {} }));
}

/** As many as a report may have. */
const MAX_STARTS = 1_000;

/** Returns the starts of all intervals by the clock of the browser, also of those without calls. */
export function listStarts({ start, end }: Pick<UsageReport, "start" | "end">, interval: Interval): number[] {
  const starts = [];
  for (let at = start; at < end && starts.length < MAX_STARTS; at = findNextStart(at, interval)) starts.push(at);
  return starts;
}

const HOUR = 3_600;

function findNextStart(at: number, interval: Interval): number {
  const date = new Date(at * 1000);
  if (interval === "none") return Number.POSITIVE_INFINITY;
  if (interval === "hour") return at + HOUR - ((at - 60 * date.getTimezoneOffset()) % HOUR);
  date.setHours(0, 0, 0, 0);
  if (interval === "month") date.setMonth(date.getMonth() + 1, 1);
  else date.setDate(date.getDate() + (interval === "day" ? 1 : 7 - ((date.getDay() + 6) % 7)));
  return date.getTime() / 1000;
}
