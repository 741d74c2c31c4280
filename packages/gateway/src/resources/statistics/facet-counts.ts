export type Counts = Map<string, number>;

const FACETS = ["models", "tokens", "groups", "channels", "codes", "statuses", "types", "users"] as const;
type Facet = (typeof FACETS)[number];

/** How often each value of each facet occurs. */
export type FacetCounts = Readonly<Record<Facet, Counts>>;

/** Facets in the text of a sum; never change their order. The sums of one user need no users. */
const IN_TEXT = ["models", "tokens", "groups", "channels", "codes", "statuses", "users"] as const;

/** Characters of `other` that hold status and code of a failed call, which come first. */
export const ERROR_HEAD = 160;
/** As `LogErrorDetail` is written. */
const ERROR = /^\{"status_code":(\d{1,3}),"error_code":"([^"\\]*)"/;

export function noCounts(): FacetCounts {
  return Object.fromEntries(FACETS.map((name) => [name, new Map()])) as unknown as FacetCounts;
}

export function addCount(counts: Counts, value: string, count: number): void {
  if (value !== "") counts.set(value, (counts.get(value) ?? 0) + count);
}

/** Columns of a log row that facets count. */
export interface CountedRow {
  readonly model_name: string;
  readonly token_name: string;
  readonly group: string;
  readonly channel_id: number;
}

export function addColumns(counts: FacetCounts, row: CountedRow, count: number): void {
  addCount(counts.models, row.model_name, count);
  addCount(counts.tokens, row.token_name, count);
  addCount(counts.groups, row.group, count);
  if (row.channel_id !== 0) addCount(counts.channels, String(row.channel_id), count);
}

/** @param head the beginning of `other` of a failed call */
export function addError(counts: FacetCounts, head: string): void {
  const [, status = "", code = ""] = ERROR.exec(head.slice(0, ERROR_HEAD)) ?? [];
  addCount(counts.statuses, status, 1);
  addCount(counts.codes, code, 1);
}

/** Counts with those of a text that is not empty. */
export function withText(counts: FacetCounts, text: string): FacetCounts {
  const merged = Object.fromEntries(FACETS.map((name) => [name, new Map(counts[name])])) as unknown as FacetCounts;
  addText(merged, text);
  return merged;
}

/** Empty when a facet has too many values. */
export function textOfCounts(counts: FacetCounts, mostValues: number): string {
  if (IN_TEXT.some((name) => counts[name].size > mostValues)) return "";
  return JSON.stringify(IN_TEXT.map((name) => Object.fromEntries(counts[name])));
}

/** Adds what a text that is not empty holds. */
export function addText(counts: FacetCounts, text: string): void {
  const facets = JSON.parse(text) as Record<string, number>[];
  for (const [at, name] of IN_TEXT.entries())
    for (const [value, count] of Object.entries(facets[at] ?? {})) addCount(counts[name], value, count);
}
