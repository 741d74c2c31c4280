import { LOG_TYPE } from "@fairway/wire";
import { readBatchedCalls } from "../../../batches/results/log-detail.ts";
import { inChunks } from "../../../lib/chunks.ts";
import { isObject, type JsonObject } from "../../../lib/text/json.ts";
import type { Database } from "../../../storage/database.ts";
import type { RawTransaction } from "../../../storage/engines/raw.ts";
import { upsertSql } from "../../../storage/inserts.ts";
import type { AlikeRows, DetailedRow } from "../alike-rows.ts";
import { HOUR } from "../dimensions.ts";

/** Row of `revisions` with the id of the last log row in the sums of prompt caches. */
export const CACHE_SUMS_MARK = "cache-sums";
/** Row of `revisions` with the time (seconds) up to which the sums of prompt caches may lack rows. */
export const CACHE_SUMS_GAP = "cache-sums-gap";

export const CACHE_FIGURES = [
  "requests",
  "hits",
  "input_tokens",
  "cached_tokens",
  "written_tokens",
  "saved",
  "storage",
] as const;
export type CacheFigures = Record<(typeof CACHE_FIGURES)[number], number>;

export interface CacheSum {
  /** Values of the key columns, in their order. */
  readonly key: readonly (string | number)[];
  readonly figures: CacheFigures;
}

const KEY = ["user_id", "token_id", "channel_id", "model", "start"] as const;
const ADD = { table: "cache_sums", columns: [...KEY, ...CACHE_FIGURES], key: KEY, add: CACHE_FIGURES } as const;
const ROWS_AT_ONCE = 100;
const MAX_MODEL = 255;

/** Sums what the caches of vendors did for the charged calls of a pass. */
export function gatherCacheSums(groups: readonly AlikeRows[], trim: (text: string) => string): CacheSum[] {
  const sums = new Map<string, CacheSum>();
  for (const { first: row, rows } of groups) {
    if (row.type !== LOG_TYPE.consume) continue;
    const start = row.created_at - (row.created_at % HOUR);
    const key = [row.user_id, row.token_id, row.channel_id, trim(row.model_name.slice(0, MAX_MODEL)), start];
    const name = key.join("\n");
    let sum = sums.get(name);
    if (!sum) sums.set(name, (sum = { key, figures: { ...NOTHING } }));
    for (const one of rows) addFigures(sum.figures, readCacheFigures(one));
  }
  return [...sums.values()];
}

function addFigures(sum: CacheFigures, more: CacheFigures): void {
  for (const figure of CACHE_FIGURES) sum[figure] += more[figure];
}

const NOTHING: CacheFigures = {
  requests: 0,
  hits: 0,
  input_tokens: 0,
  cached_tokens: 0,
  written_tokens: 0,
  saved: 0,
  storage: 0,
};

/** Reads the row of a call, a batch, or the storage of a cache. */
function readCacheFigures({ row, detail: other }: DetailedRow): CacheFigures {
  const created = isObject(other["cached_content"]) ? other["cached_content"] : undefined;
  if (created?.["seconds"] !== undefined) return { ...NOTHING, storage: row.quota };
  const read = readCount(other, "cache_tokens");
  return {
    requests: readBatchedCalls(other)?.succeeded ?? 1,
    hits: read > 0 ? 1 : 0,
    input_tokens: row.prompt_tokens,
    cached_tokens: read,
    written_tokens: created ? readCount(created, "tokens") : readCount(other, "cache_creation_tokens"),
    saved: readCount(other, "cache_saved"),
    storage: 0,
  };
}

function readCount(values: JsonObject, name: string): number {
  const value = values[name];
  return typeof value === "number" && Number.isSafeInteger(value) ? value : 0;
}

/** Adds the sums in the transaction that moves the mark. */
export async function addCacheSums(
  tx: RawTransaction,
  kind: Database["kind"],
  sums: readonly CacheSum[],
): Promise<void> {
  for (const some of inChunks(sums, ROWS_AT_ONCE)) {
    const values = some.flatMap(({ key, figures }) => [...key, ...CACHE_FIGURES.map((name) => figures[name])]);
    await tx.run(upsertSql(kind, ADD, some.length), values);
  }
}
