import type { UsageRow } from "@fairway/wire";
import type { Bounds } from "../../lib/range.ts";
import { startAfter, startOf, type Step } from "./span.ts";

export const METRICS = ["quota", "tokens", "requests"] as const;
export type Metric = (typeof METRICS)[number];

export type Amounts = Readonly<Record<Metric, number>>;

export interface ModelUsage extends Amounts {
  readonly model: string;
}

export interface Bucket extends Amounts {
  /** First second of the bar, and of the one after it. */
  readonly start: number;
  readonly end: number;
  readonly models: ReadonlyMap<string, Amounts>;
}

const NOTHING: Amounts = { quota: 0, tokens: 0, requests: 0 };
/** More bars than this are no chart: the caller chose a step that is too short for the span. */
export const MOST_BUCKETS = 1_000;

function plus(a: Amounts, b: Amounts): Amounts {
  return { quota: a.quota + b.quota, tokens: a.tokens + b.tokens, requests: a.requests + b.requests };
}

function amountsOf(row: UsageRow): Amounts {
  return { quota: row.quota, tokens: row.token_used, requests: row.count };
}

export function sumOf(rows: readonly UsageRow[]): Amounts {
  return rows.reduce((sum, row) => plus(sum, amountsOf(row)), NOTHING);
}

/** Usage of each model over the whole span, the largest of `metric` first. */
export function modelsOf(rows: readonly UsageRow[], metric: Metric): readonly ModelUsage[] {
  const sums = new Map<string, Amounts>();
  for (const row of rows) sums.set(row.model_name, plus(sums.get(row.model_name) ?? NOTHING, amountsOf(row)));
  const models = [...sums].map(([model, amounts]) => ({ model, ...amounts }));
  return models.toSorted((a, b) => b[metric] - a[metric] || a.model.localeCompare(b.model));
}

/** One bucket for each step of the span, also where nothing was used. */
export function bucketsOf(
  rows: readonly UsageRow[],
  { from, to }: Bounds,
  { step, firstDay }: { readonly step: Step; readonly firstDay: number },
): readonly Bucket[] {
  const byStart = new Map<number, Map<string, Amounts>>();
  for (let start = startOf(from, step, firstDay); start <= to; start = startAfter(start, step)) {
    if (byStart.size === MOST_BUCKETS) break;
    byStart.set(start, new Map());
  }
  for (const row of rows) {
    const models = byStart.get(startOf(row.created_at, step, firstDay));
    models?.set(row.model_name, plus(models.get(row.model_name) ?? NOTHING, amountsOf(row)));
  }
  return [...byStart].map(([start, models]) => ({
    start,
    end: startAfter(start, step),
    models,
    ...[...models.values()].reduce(plus, NOTHING),
  }));
}

export const HUES = ["fairway", "flare", "beacon", "starboard", "port", "cardinal", "kelp"] as const;
type SeriesHue = (typeof HUES)[number] | "slate";

export interface Series {
  /** Undefined for the sum of the models that have no colour of their own. */
  readonly model: string | undefined;
  readonly hue: SeriesHue;
  readonly total: number;
}

function hash(text: string): number {
  let value = 0;
  for (const sign of text) value = (value * 31 + (sign.codePointAt(0) ?? 0)) >>> 0;
  return value;
}

/**
 * The largest models with a colour each, the rest as one. A model keeps its colour from day to day, unless a larger
 * one wants the same: two bars of one colour could not be distinguished.
 */
export function seriesOf(models: readonly ModelUsage[], metric: Metric): readonly Series[] {
  const used = models.filter((model) => model[metric] > 0);
  const isAll = used.length <= HUES.length;
  const named = isAll ? used : used.slice(0, HUES.length - 1);
  const free = new Set<SeriesHue>(HUES);
  const series = named.map((entry): Series => {
    const at = hash(entry.model) % HUES.length;
    const hue = [...HUES.slice(at), ...HUES.slice(0, at)].find((name) => free.has(name)) ?? "slate";
    free.delete(hue);
    return { model: entry.model, hue, total: entry[metric] };
  });
  const rest = used.slice(named.length).reduce((sum, entry) => sum + entry[metric], 0);
  return rest > 0 ? [...series, { model: undefined, hue: "slate", total: rest }] : series;
}

/** What one series contributes to a bucket. */
export function partOf(bucket: Bucket, series: Series, metric: Metric, named: ReadonlySet<string>): number {
  if (series.model !== undefined) return bucket.models.get(series.model)?.[metric] ?? 0;
  let rest = 0;
  for (const [model, amounts] of bucket.models) if (!named.has(model)) rest += amounts[metric];
  return rest;
}

/** The next value of the form 1, 2 or 5 times a power of ten, so that an axis ends at a number that can be read. */
export function niceCeiling(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 2.5, 5, 10].find((step) => step * power >= value) ?? 10;
  return factor * power;
}
