import type { BatchItem } from "@fairway/wire";
import { requireProtocol } from "../protocols/index.ts";
import { openTerms, type BatchTerms } from "../pricing/terms.ts";
import { openAllResults } from "../results.ts";
import type { BatchSums, ModelSums } from "../results/sums.ts";
import { readSums, type SettleDeps } from "../settle.ts";
import type { BatchRow } from "../types.ts";
import { describePrices } from "./describe-prices.ts";

const RESULTS = ["succeeded", "failed", "expired", "cancelled"] as const;

/**
 * Reads the results of a batch as a stream and returns what one item used and costs; undefined if they do not name it.
 * All other items count as unknown, so the sums are those of the one.
 */
export async function findItem(
  row: BatchRow,
  customId: string,
  deps: SettleDeps,
  signal: AbortSignal,
): Promise<BatchItem | undefined> {
  const terms = openTerms(JSON.parse(row.terms) as BatchTerms);
  const isOne = { has: (id: string) => id === customId };
  const streams = await openAllResults(askForAll(row), deps, signal);
  const sums = await readSums({ row: { ...row, total: 1 }, terms, streams, knownIds: isOne }, deps);
  return sums.missing > 0 ? undefined : describeItem(row, customId, sums);
}

/** Results that contain errors only are not opened for a settlement. */
function askForAll(row: BatchRow): BatchRow {
  return requireProtocol(row.dialect).hasFiles(row) ? row : { ...row, succeeded: Math.max(1, row.succeeded) };
}

function describeItem(row: BatchRow, customId: string, sums: BatchSums): BatchItem {
  const [used] = sums.models;
  return {
    custom_id: customId,
    result: RESULTS.find((result) => sums[result] > 0) ?? "unreadable",
    ...(used ? describeUsage(used) : NO_USAGE),
    quota: sums.quota,
    full_quota: sums.full,
    price: describePrices(row).find(({ model }) => model === used?.model) ?? null,
  };
}

const NO_USAGE = {
  model: "",
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  usage_source: "upstream",
} as const;

function describeUsage(used: ModelSums): Pick<BatchItem, keyof typeof NO_USAGE> {
  return {
    model: used.model,
    prompt_tokens: used.promptTokens,
    completion_tokens: used.completionTokens,
    cached_tokens: used.cachedTokens,
    cache_write_tokens: used.cacheWriteTokens,
    reasoning_tokens: used.reasoningTokens,
    usage_source: used.counted > 0 ? "counted" : "upstream",
  };
}
