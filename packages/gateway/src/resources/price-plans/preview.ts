import { LOG_FACET_SAMPLE, LOG_TYPE, type PlannedPrice, type PricePreview } from "@fairway/wire";
import type { PriceBook } from "../../billing/pricing/price-book.ts";
import { explain } from "../../billing/pricing/explain.ts";
import { knownRatio } from "../../billing/money/ratio.ts";
import { NO_USAGE } from "../../dialects/core/types.ts";
import { listedName } from "../../billing/pricing/listed-name.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { parseObject } from "../../lib/text/json.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { LogDatabase } from "../../storage/log-database.ts";
import { EVERYTHING, toPeriod, type LogQuery } from "../logs/filter.ts";
import { newestFirst } from "../logs/rows.ts";
import { slicePeriod } from "../logs/slices.ts";

export interface PreviewDeps {
  /** The database of the log. */
  readonly logs: LogDatabase;
  readonly clock: Clock;
  readonly snapshot: () => Pick<Snapshot, "prices" | "options">;
}

const DAY_SECONDS = 86_400;
const COLUMNS = ["model_name", "group", "prompt_tokens", "completion_tokens", "quota", "other"] as const;

interface CountedRow {
  readonly model_name: string;
  readonly group: string;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly quota: number;
  readonly other: string;
}

interface Sum {
  requests: number;
  charged: number;
  wouldCharge: number;
}

/**
 * Computes what the charged requests of the last 24 hours would have cost at new prices, row by row. What a row was
 * charged for beyond its tokens, such as tools and images, changes in proportion.
 */
export async function previewPrices(deps: PreviewDeps, prices: readonly PlannedPrice[], book: PriceBook) {
  const { logs, clock } = deps;
  const now = seconds(clock);
  const query: LogQuery = { ...EVERYTHING, start_timestamp: now - DAY_SECONDS, end_timestamp: now };
  const sums = new Map(prices.map(({ model }): [string, Sum] => [model, { requests: 0, charged: 0, wouldCharge: 0 }]));
  let left = LOG_FACET_SAMPLE;
  for await (const slice of slicePeriod(logs, query, toPeriod(query))) {
    if (left <= 0) break;
    const rows = await newestFirst(logs.db, query, slice)
      .where("type", "=", LOG_TYPE.consume)
      .where("model_name", "in", [...sums.keys()])
      .select(COLUMNS)
      .limit(left)
      .execute();
    left -= rows.length;
    for (const row of rows) addRow(deps, sums, row, book);
  }
  const models = [...sums].map(([model, { requests, charged, wouldCharge }]) => ({
    model,
    requests,
    charged,
    would_charge: Math.round(wouldCharge),
  }));
  return { models, complete: left > 0 } satisfies PricePreview;
}

function addRow(deps: PreviewDeps, sums: ReadonlyMap<string, Sum>, row: CountedRow, book: PriceBook): void {
  const sum = sums.get(listedName(row.model_name)) ?? sums.get(row.model_name);
  if (!sum) return;
  const { prices, options } = deps.snapshot();
  const quota = Number(row.quota);
  const before = chargeRow(row, prices, options.QuotaPerUnit);
  const after = chargeRow(row, book, options.QuotaPerUnit);
  sum.requests += 1;
  sum.charged += quota;
  sum.wouldCharge += before > 0 && quota > 0 ? (quota * after) / before : after;
}

/** Returns the charge of a row's tokens; 0 without a price. */
function chargeRow(row: CountedRow, book: PriceBook, quotaPerUnit: number): number {
  const price = book.charged(row.model_name);
  if (!price) return 0;
  const other = parseObject(row.other) ?? {};
  const usage = {
    ...NO_USAGE,
    input: Number(row.prompt_tokens),
    output: Number(row.completion_tokens),
    cachedInput: typeof other["cache_tokens"] === "number" ? other["cache_tokens"] : 0,
  };
  const groupRatio =
    typeof other["group_ratio"] === "number" ? String(other["group_ratio"]) : book.groupRatio(row.group);
  const spec = { model: row.model_name, operation: "chat" as const };
  return explain(usage, price, { groupRatio, spec, quotaPerUnit: knownRatio(String(quotaPerUnit)) }).quota;
}
