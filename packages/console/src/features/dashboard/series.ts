import type { UsageStatistics } from "@fairway/wire";
import type { Bounds } from "../../lib/range.ts";
import { assignColours, REST_COLOUR } from "../../ui/chart/colours.ts";
import type { ChartSeries, ChartSlot } from "../../ui/chart/types.ts";
import { startAfter, findSlotStart, type Step } from "./span.ts";

export const METRICS = ["quota", "tokens", "requests"] as const;
export type Metric = (typeof METRICS)[number];

export type Amounts = Readonly<Record<Metric, number>>;

export interface ModelUsage extends Amounts {
  readonly model: string;
}

export interface Bucket extends Amounts {
  /** First second of the bar, and of the next one. */
  readonly start: number;
  readonly end: number;
  readonly models: ReadonlyMap<string, Amounts>;
}

const NOTHING: Amounts = { quota: 0, tokens: 0, requests: 0 };
/** A chart cannot show more bars than this: the caller chose a step that is too short for the span. */
export const MAX_BUCKETS = 1_000;

function plus(a: Amounts, b: Amounts): Amounts {
  return { quota: a.quota + b.quota, tokens: a.tokens + b.tokens, requests: a.requests + b.requests };
}

function minus(a: Amounts, b: Amounts): Amounts {
  return {
    quota: Math.max(0, a.quota - b.quota),
    tokens: Math.max(0, a.tokens - b.tokens),
    requests: Math.max(0, a.requests - b.requests),
  };
}

type Figures = UsageStatistics["total"];

export function readAmounts(figures: Pick<Figures, "quota" | "input_tokens" | "output_tokens" | "calls">): Amounts {
  return {
    quota: figures.quota,
    tokens: figures.input_tokens + figures.output_tokens,
    requests: figures.calls,
  };
}

/** Usage of each listed subject over the whole span, the largest of `metric` first. */
export function listUsage({ subjects }: UsageStatistics, metric: Metric): readonly ModelUsage[] {
  const models = subjects.map((subject) => ({ model: subject.subject, ...readAmounts(subject) }));
  return models.toSorted((a, b) => b[metric] - a[metric] || a.model.localeCompare(b.model));
}

/** Sums what the subjects outside the list used in the span. */
export function sumUnlisted({ total }: UsageStatistics, listed: readonly ModelUsage[]): Amounts {
  return minus(readAmounts(total), listed.reduce(plus, NOTHING));
}

/** Returns one bucket for each step of the span, even if nothing was used. Its amounts are those of all subjects. */
export function listBuckets(
  answer: UsageStatistics,
  { from, to }: Bounds,
  { step, firstDay }: { readonly step: Step; readonly firstDay: number },
): readonly Bucket[] {
  const byStart = new Map<number, { models: Map<string, Amounts>; total: Amounts }>();
  for (let start = findSlotStart(from, step, firstDay); start <= to; start = startAfter(start, step)) {
    if (byStart.size === MAX_BUCKETS) break;
    byStart.set(start, { models: new Map(), total: NOTHING });
  }
  const find = (time: number) => byStart.get(findSlotStart(Math.max(time, from), step, firstDay));
  for (const point of answer.total_points) {
    const bucket = find(point.start);
    if (bucket) bucket.total = plus(bucket.total, readAmounts(point));
  }
  for (const { subject, points } of answer.subjects)
    for (const point of points) {
      const models = find(point.start)?.models;
      models?.set(subject, plus(models.get(subject) ?? NOTHING, readAmounts(point)));
    }
  return [...byStart].map(([start, { models, total }]) => ({
    start,
    end: startAfter(start, step),
    models,
    ...total,
  }));
}

/** How many series a chart has: twelve models with a colour of their own, and the rest, which the table lists. */
export const MAX_SERIES = 13;
/** Key of the rest; no model has this name. */
export const OTHERS = "\n";

export interface Series extends ChartSeries {
  readonly total: number;
}

/** Returns the largest models with a colour each, and everything else as one series. */
export function buildSeries(
  models: readonly ModelUsage[],
  metric: Metric,
  rest: { readonly label: string; readonly unlisted: Amounts },
  formatLabel: (model: string) => string = (model) => model,
): readonly Series[] {
  const used = models.filter((model) => model[metric] > 0);
  const hasRest = used.length > MAX_SERIES || rest.unlisted[metric] > 0;
  const named = hasRest ? used.slice(0, MAX_SERIES - 1) : used;
  const colours = assignColours(named.map(({ model }) => model));
  const series = named.map(({ model, ...amounts }): Series => ({
    key: model,
    label: formatLabel(model),
    colour: colours.get(model) ?? REST_COLOUR,
    total: amounts[metric],
  }));
  if (!hasRest) return series;
  const total = used.slice(named.length).reduce((sum, entry) => sum + entry[metric], rest.unlisted[metric]);
  return [...series, { key: OTHERS, label: rest.label, colour: REST_COLOUR, total }];
}

/** Splits each bucket among the series; the rest of a bucket belongs to the others. */
export function buildSlots(buckets: readonly Bucket[], series: readonly Series[], metric: Metric): ChartSlot[] {
  const named = series.filter(({ key }) => key !== OTHERS);
  return buckets.map(({ start, end, models, ...total }) => {
    const values: Record<string, number> = {};
    let rest = total[metric];
    for (const { key } of named) {
      const value = models.get(key)?.[metric] ?? 0;
      values[key] = value;
      rest -= value;
    }
    if (rest > 0) values[OTHERS] = rest;
    return { start, end, values };
  });
}
