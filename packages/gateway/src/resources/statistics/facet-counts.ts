export type Counts = Map<string, number>;

const FACETS = ["models", "tokens", "groups", "channels", "codes", "statuses", "types", "users"] as const;
type Facet = (typeof FACETS)[number];

/** The number of occurrences of each value of each facet. */
export type FacetCounts = Readonly<Record<Facet, Counts>>;

/** Order of the facets in the text of a sum; never change it. The sums of one user need no users. */
const IN_TEXT = ["models", "tokens", "groups", "channels", "codes", "statuses", "users"] as const;

/** Number of characters of `other` that contain the status and code of a failed call, which come first. */
export const ERROR_HEAD = 160;
/** Matches an error as `LogErrorDetail` is written. */
const ERROR = /^\{"status_code":(\d{1,3}),"error_code":"([^"\\]*)"/;

const [QUOTE, ZERO, NINE, BACKSLASH, BRACE] = [34, 48, 57, 92, 123];

export function noCounts(): FacetCounts {
  return Object.fromEntries(FACETS.map((name) => [name, new Map()])) as unknown as FacetCounts;
}

export function addCount(counts: Counts, value: string, count: number): void {
  if (value !== "") counts.set(value, (counts.get(value) ?? 0) + count);
}

/** Columns of a log row that the facets count. */
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
export function addError(counts: FacetCounts, head: string, count: number): void {
  const [, status = "", code = ""] = ERROR.exec(head.slice(0, ERROR_HEAD)) ?? [];
  addCount(counts.statuses, status, count);
  addCount(counts.codes, code, count);
}

/** Returns the counts plus those of a text that is not empty. */
export function withText(counts: FacetCounts, text: string): FacetCounts {
  const merged = Object.fromEntries(FACETS.map((name) => [name, new Map(counts[name])])) as unknown as FacetCounts;
  addText(merged, text);
  return merged;
}

/** Returns an empty text if a facet has too many values. */
export function encodeCounts(counts: FacetCounts, maxValues: number): string {
  if (IN_TEXT.some((name) => counts[name].size > maxValues)) return "";
  return JSON.stringify(IN_TEXT.map((name) => Object.fromEntries(counts[name])));
}

/**
 * Adds the counts in a text that is not empty. Facets of a month read texts of five megabytes; `JSON.parse` would take
 * more than twice as long.
 */
export function addText(counts: FacetCounts, text: string): void {
  let facet = -1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BRACE) facet++;
    if (code !== QUOTE) continue;
    const end = findNameEnd(text, at + 1);
    const name = text.slice(at + 1, end);
    const value = name.includes("\\") ? (JSON.parse(`"${name}"`) as string) : name;
    let count = 0;
    // Skips the colon in between.
    at = end + 2;
    for (let digit = text.charCodeAt(at); digit >= ZERO && digit <= NINE; digit = text.charCodeAt(++at))
      count = count * 10 + digit - ZERO;
    addCount(counts[IN_TEXT[facet] ?? "types"], value, count);
  }
}

/** Returns the position of the quote that ends a name. */
function findNameEnd(text: string, from: number): number {
  let end = text.indexOf('"', from);
  for (;;) {
    let before = end;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((end - before) % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
}
