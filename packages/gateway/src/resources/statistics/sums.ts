import type { UsagePoint } from "@fairway/wire";
import { merge, mergeText, calculatePercentiles, type Histogram } from "./histogram.ts";

const COUNTS = ["calls", "errors", "refused", "quota", "input_tokens", "output_tokens"] as const;
type Counts = Record<(typeof COUNTS)[number], number>;

/** The sums of the calls of one subject. */
export interface Sums extends Counts {
  readonly latency: Histogram;
  readonly first_token: Histogram;
}

/** The same sums in the columns of a table row. */
export interface SumsRow extends Readonly<Counts> {
  readonly latency: string;
  readonly first_token: string;
}

export function emptySums(): Sums {
  return {
    calls: 0,
    errors: 0,
    refused: 0,
    quota: 0,
    input_tokens: 0,
    output_tokens: 0,
    latency: new Map(),
    first_token: new Map(),
  };
}

export function addRow(sums: Sums, row: SumsRow): void {
  for (const name of COUNTS) sums[name] += Number(row[name]);
  mergeText(sums.latency, row.latency);
  mergeText(sums.first_token, row.first_token);
}

export function addSums(sums: Sums, more: Sums): void {
  for (const name of COUNTS) sums[name] += more[name];
  merge(sums.latency, more.latency);
  merge(sums.first_token, more.first_token);
}

export function calculateFigures({ latency, first_token: firstToken, ...counts }: Sums): Omit<UsagePoint, "start"> {
  return { ...counts, latency: calculatePercentiles(latency), first_token: calculatePercentiles(firstToken) };
}
