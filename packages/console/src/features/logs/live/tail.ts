import type { LogRow } from "@fairway/wire";

/** Rows that arrived since the list was read. */
export interface Tail {
  /** Rows in the list, newest first. */
  readonly shown: readonly LogRow[];
  /** Rows that wait for the reader, newest first. */
  readonly waiting: readonly LogRow[];
  /** How many rows arrived but were dropped, because there were too many. */
  readonly missed: number;
}

/** The most rows of each kind that a page holds, however long it is open. */
const MAX_ROWS = 200;

export const NO_TAIL: Tail = { shown: [], waiting: [], missed: 0 };

/** Adds rows, oldest first: to the list if the reader sees its top, otherwise to the waiting rows. */
export function received(tail: Tail, rows: readonly LogRow[], isHeld: boolean): Tail {
  const newest = rows.toReversed();
  // Rows that slid out of a list are found by paging; those that were never in it are counted.
  if (!isHeld) return { ...tail, shown: [...newest, ...tail.shown].slice(0, MAX_ROWS) };
  const waiting = [...newest, ...tail.waiting];
  return {
    ...tail,
    waiting: waiting.slice(0, MAX_ROWS),
    missed: tail.missed + Math.max(0, waiting.length - MAX_ROWS),
  };
}

export function missed(tail: Tail, count: number): Tail {
  return { ...tail, missed: tail.missed + count };
}

/** Puts the waiting rows into the list. */
export function released({ shown, waiting }: Tail): Tail {
  return { shown: [...waiting, ...shown].slice(0, MAX_ROWS), waiting: [], missed: 0 };
}

/** Returns how many calls the reader has not seen. */
export function unseen({ waiting, missed: more }: Tail): number {
  return waiting.length + more;
}

/** Identifies two copies of a row as the same: owners see running numbers for ids. */
function buildRowIdentity(row: LogRow): string {
  return [row.request_id, row.created_at, row.type, row.quota, row.prompt_tokens, row.content].join(" ");
}

/** Returns the list with the new rows on top; a row that is already in the list appears once. */
export function withTail(tail: Tail, rows: readonly LogRow[], isAdmin: boolean): LogRow[] {
  const buildRowKey = (row: LogRow) => (isAdmin ? String(row.id) : buildRowIdentity(row));
  const known = new Set(rows.map(buildRowKey));
  return [...tail.shown.filter((row) => !known.has(buildRowKey(row))), ...rows];
}
