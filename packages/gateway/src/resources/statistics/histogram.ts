import type { Percentiles } from "@fairway/wire";

/**
 * Counts of durations in buckets that grow by 4 %, as in DDSketch: every percentile is within 2 % of the exact one, and
 * two histograms merge without loss by adding their counts.
 */
export type Histogram = Map<number, number>;

const GROWTH = 1.04;
const [COLON, SPACE, ZERO] = [58, 32, 48];
const LOG_GROWTH = Math.log(GROWTH);
/** About 16 hours; one more bucket contains everything above. */
const LONGEST_MS = 60_000_000;

/** Returns the bucket of a duration in milliseconds; anything below 1 ms is in the first. */
function calculateBucket(ms: number): number {
  if (!(ms > 1)) return 0;
  return Math.ceil(Math.log(Math.min(ms, LONGEST_MS)) / LOG_GROWTH);
}

/** Returns the middle of a bucket. */
function calculateBucketValue(bucket: number): number {
  return bucket === 0 ? 1 : (2 * GROWTH ** bucket) / (GROWTH + 1);
}

export function observe(histogram: Histogram, ms: number, count = 1): void {
  const bucket = calculateBucket(ms);
  histogram.set(bucket, (histogram.get(bucket) ?? 0) + count);
}

/**
 * Adds the counts of `text`. A month of many channels merges thousands of texts; splitting them would take three times
 * as long.
 */
export function mergeText(histogram: Histogram, text: string): void {
  if (text === "") return;
  let bucket = 0;
  let number = 0;
  const add = () => histogram.set(bucket, (histogram.get(bucket) ?? 0) + number);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COLON) {
      bucket = number;
      number = 0;
    } else if (code === SPACE) {
      add();
      number = 0;
    } else {
      number = number * 10 + code - ZERO;
    }
  }
  add();
}

export function merge(histogram: Histogram, more: Histogram): void {
  for (const [bucket, count] of more) histogram.set(bucket, (histogram.get(bucket) ?? 0) + count);
}

/** Returns a histogram with the counts of `text` added. */
export function withText(histogram: Histogram, text: string): Histogram {
  if (text === "") return histogram;
  const merged = new Map(histogram);
  mergeText(merged, text);
  return merged;
}

/** Formats the histogram as `bucket:count` pairs, ascending. */
export function formatHistogram(histogram: Histogram): string {
  const pairs = [...histogram].toSorted(([a], [b]) => a - b);
  return pairs.map(([bucket, count]) => `${bucket}:${count}`).join(" ");
}

export function calculatePercentiles(histogram: Histogram): Percentiles {
  const pairs = [...histogram].toSorted(([a], [b]) => a - b);
  const count = pairs.reduce((sum, [, one]) => sum + one, 0);
  const at = (part: number) => {
    let left = Math.ceil(count * part);
    for (const [bucket, one] of pairs) {
      left -= one;
      if (left <= 0) return Math.max(1, Math.round(calculateBucketValue(bucket)));
    }
    return 0;
  };
  return count === 0
    ? { count, p50: 0, p90: 0, p95: 0, p99: 0 }
    : { count, p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99) };
}
