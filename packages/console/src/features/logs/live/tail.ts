import type { LogRow } from "@fairway/wire";

/** Rows that arrived since the list was read. */
export interface Tail {
  /** In the list, newest first. */
  readonly shown: readonly LogRow[];
  /** Wait for the reader, newest first. */
  readonly waiting: readonly LogRow[];
  /** Arrived, but are neither shown nor waiting: there were too many. */
  readonly missed: number;
}

/** Rows of each kind that a page holds, however long it is open. */
const MAX_ROWS = 200;

export const NO_TAIL: Tail = { shown: [], waiting: [], missed: 0 };

/** Adds rows, oldest first, where the reader has the top of the list in sight, or else to those that wait. */
export function received(tail: Tail, rows: readonly LogRow[], isHeld: boolean): Tail {
  const newest = rows.toReversed();
  // Rows that slid out of a list are found by paging; those that never were in it are counted.
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

/** How many calls the reader has not seen. */
export function unseen({ waiting, missed: more }: Tail): number {
  return waiting.length + more;
}

/** What makes two copies of one row the same: owners see running numbers for ids. */
function buildRowIdentity(row: LogRow): string {
  return [row.request_id, row.created_at, row.type, row.quota, row.prompt_tokens, row.content].join(" ");
}

/** The list with the rows that arrived on top; a row that the list has itself appears once. */
export function withTail(tail: Tail, rows: readonly LogRow[], isAdmin: boolean): LogRow[] {
  const buildRowKey = (row: LogRow) => (isAdmin ? String(row.id) : buildRowIdentity(row));
  const known = new Set(rows.map(buildRowKey));
  return [...tail.shown.filter((row) => !known.has(buildRowKey(row))), ...rows];
}
