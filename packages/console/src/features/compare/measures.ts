import type { UsagePoint, UsageSubject } from "@fairway/wire";

/** What channels and models are compared by. */
export const MEASURES = ["calls", "rate", "errors", "p50", "p95", "first50", "first95", "spend"] as const;
export type Measure = (typeof MEASURES)[number];

/** The measures that a sum and a point have in common. */
export type Figures = Pick<
  UsagePoint,
  "calls" | "errors" | "quota" | "input_tokens" | "output_tokens" | "latency" | "first_token"
>;

const MINUTE = 60;

/** Returns a measure over some seconds; undefined if nothing was measured. Latencies are milliseconds, errors a share. */
export function readMeasure(figures: Figures, measure: Measure, seconds: number): number | undefined {
  const { calls, latency, first_token: first } = figures;
  if (measure === "calls") return calls;
  if (measure === "spend") return figures.quota;
  if (calls === 0) return undefined;
  if (measure === "rate") return ((figures.input_tokens + figures.output_tokens) / Math.max(1, seconds)) * MINUTE;
  if (measure === "errors") return figures.errors / calls;
  const percentiles = measure === "p50" || measure === "p95" ? latency : first;
  if (percentiles.count === 0) return undefined;
  return measure === "p50" || measure === "first50" ? percentiles.p50 : percentiles.p95;
}

export type SortKey = Measure | "name";

export interface Sort {
  readonly key: SortKey;
  readonly isDescending: boolean;
}

/** Reads `-p95` or `name`; anything else sorts by the latency of the slowest calls. */
export function parseSort(text: string): Sort {
  const isDescending = text.startsWith("-");
  const name = isDescending ? text.slice(1) : text;
  if (name === "name") return { key: name, isDescending };
  const key = MEASURES.find((one) => one === name);
  return key ? { key, isDescending } : { key: "p95", isDescending: true };
}

/** Sorts all rows; those without a measurement are last in both directions. */
export function sortSubjects(
  subjects: readonly UsageSubject[],
  { key, isDescending }: Sort,
  seconds: number,
): readonly UsageSubject[] {
  const turn = isDescending ? -1 : 1;
  const compareNames = (a: UsageSubject, b: UsageSubject) => a.name.localeCompare(b.name);
  if (key === "name") return subjects.toSorted((a, b) => turn * compareNames(a, b));
  const values = new Map(subjects.map((one) => [one, readMeasure(one, key, seconds)]));
  return subjects.toSorted((a, b) => {
    const [first, second] = [values.get(a), values.get(b)];
    if (first === undefined || second === undefined)
      return Number(first === undefined) - Number(second === undefined) || compareNames(a, b);
    return turn * (first - second) || compareNames(a, b);
  });
}

/** A chart cannot show more lines than the eye separates. */
export const MAX_LINES = 6;

/** Returns the rows to draw: the first that were measured at all. */
export function chooseLines(
  sorted: readonly UsageSubject[],
  measure: Measure,
  seconds: number,
): readonly UsageSubject[] {
  const isMeasured = (one: UsageSubject) => one.calls > 0 && readMeasure(one, measure, seconds) !== undefined;
  return sorted.filter((one) => one.points.length > 0 && isMeasured(one)).slice(0, MAX_LINES);
}
