import { LOG_FACET_SAMPLE, type LogFacets } from "@fairway/wire";
import type { FacetRow } from "./statistics.ts";

const VALUES_PER_FACET = 20;

/** Adds combinations up to the most frequent values of each column; owners learn of neither channels nor users. */
export function facetsOf(rows: readonly FacetRow[], isOwner: boolean): LogFacets {
  const total = rows.reduce((sum, row) => sum + row.count, 0);
  const counts = (valueOf: (row: FacetRow) => string) => mostFrequent(rows, valueOf);
  return {
    complete: total < LOG_FACET_SAMPLE,
    models: counts((row) => row.model_name),
    tokens: counts((row) => row.token_name),
    groups: counts((row) => row.group),
    types: counts((row) => String(row.type)),
    channels: isOwner ? [] : counts((row) => (row.channel_id === 0 ? "" : String(row.channel_id))),
    users: isOwner ? [] : counts((row) => row.username),
  };
}

function mostFrequent(
  rows: readonly FacetRow[],
  valueOf: (row: FacetRow) => string,
): { value: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const value = valueOf(row);
    if (value !== "") counts.set(value, (counts.get(value) ?? 0) + row.count);
  }
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, VALUES_PER_FACET);
}
