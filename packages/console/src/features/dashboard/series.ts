import type { UsageRow } from "@fairway/wire";
import type { Bounds } from "../../lib/range.ts";
import { coloursOf, REST_COLOUR } from "../../ui/chart/colours.ts";
import type { ChartSeries, ChartSlot } from "../../ui/chart/types.ts";
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

/** Models with a colour of their own; the rest is one series. */
export const MOST_SERIES = 7;
/** Key of the rest: no model has this name. */
export const OTHERS = "\n";

export interface Series extends ChartSeries {
  readonly total: number;
}

/** The largest models with a colour each, the rest as one. */
export function seriesOf(
  models: readonly ModelUsage[],
  metric: Metric,
  others: string,
  labelOf: (model: string) => string = (model) => model,
): readonly Series[] {
  const used = models.filter((model) => model[metric] > 0);
  const named = used.length <= MOST_SERIES ? used : used.slice(0, MOST_SERIES - 1);
  const colours = coloursOf(named.map(({ model }) => model));
  const series = named.map(({ model, ...amounts }): Series => ({
    key: model,
    label: labelOf(model),
    colour: colours.get(model) ?? REST_COLOUR,
    total: amounts[metric],
  }));
  const rest = used.slice(named.length).reduce((sum, entry) => sum + entry[metric], 0);
  return rest > 0 ? [...series, { key: OTHERS, label: others, colour: REST_COLOUR, total: rest }] : series;
}

/** What each series contributes to each bucket. */
export function slotsOf(buckets: readonly Bucket[], series: readonly Series[], metric: Metric): ChartSlot[] {
  const named = new Set(series.map(({ key }) => key));
  return buckets.map(({ start, end, models }) => {
    const values: Record<string, number> = {};
    for (const [model, amounts] of models) {
      const key = named.has(model) ? model : OTHERS;
      values[key] = (values[key] ?? 0) + amounts[metric];
    }
    return { start, end, values };
  });
}
