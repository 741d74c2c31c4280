import { LOG_FACET_ERRORS, LOG_FACET_SAMPLE, type LogFacets } from "@fairway/wire";
import type { FacetCounts, FacetRow } from "./statistics.ts";

const VALUES_PER_FACET = 20;
/** As `LogErrorDetail` is written: status and code are its first members. */
const ERROR_HEAD = /^\{"status_code":(\d{1,3}),"error_code":"([^"\\]*)"/;

type Counts = Map<string, number>;

/** Adds combinations up to the most frequent values of each column; owners learn of neither channels nor users. */
export function facetsOf(
  { rows, errors }: FacetCounts,
  channelNames: ReadonlyMap<number, string> | "owner",
): LogFacets {
  const total = rows.reduce((sum, row) => sum + row.count, 0);
  const counts = (valueOf: (row: FacetRow) => string) => mostFrequent(countsOf(rows, valueOf));
  const [statuses, codes] = errorCounts(errors);
  const isOwner = channelNames === "owner";
  return {
    complete: total < LOG_FACET_SAMPLE && errors.length < LOG_FACET_ERRORS,
    models: counts((row) => row.model_name),
    tokens: counts((row) => row.token_name),
    groups: counts((row) => row.group),
    types: counts((row) => String(row.type)),
    channels: isOwner
      ? []
      : counts((row) => (row.channel_id === 0 ? "" : String(row.channel_id))).map((channel) => ({
          ...channel,
          name: channelNames.get(Number(channel.value)) ?? "",
        })),
    users: isOwner ? [] : counts((row) => row.username),
    codes: mostFrequent(codes),
    statuses: mostFrequent(statuses),
  };
}

/** Ids of the channels that the counts name. */
export function facetChannels({ rows }: FacetCounts): number[] {
  return [...new Set(rows.map((row) => row.channel_id))].filter((id) => id !== 0);
}

function countsOf(rows: readonly FacetRow[], valueOf: (row: FacetRow) => string): Counts {
  const counts: Counts = new Map();
  for (const row of rows) add(counts, valueOf(row), row.count);
  return counts;
}

function errorCounts(errors: readonly string[]): [statuses: Counts, codes: Counts] {
  const statuses: Counts = new Map();
  const codes: Counts = new Map();
  for (const head of errors) {
    const [, status = "", code = ""] = ERROR_HEAD.exec(head) ?? [];
    add(statuses, status, 1);
    add(codes, code, 1);
  }
  return [statuses, codes];
}

function add(counts: Counts, value: string, count: number): void {
  if (value !== "") counts.set(value, (counts.get(value) ?? 0) + count);
}

function mostFrequent(counts: Counts): { value: string; count: number }[] {
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, VALUES_PER_FACET);
}
