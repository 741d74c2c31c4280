import { isObject } from "../../../lib/text/json.ts";
import type { PlainRow } from "./memory-tables.ts";
import { host, readServer, ServerProblem, type ServerPlace } from "./server-calls.ts";

const SIZE = 100;
const MAX_PAGES = 20_000;

interface Page {
  readonly rows: readonly PlainRow[];
  /** The number of all rows, if the gateway says it. */
  readonly total: number | undefined;
  /** True if its first page has the number 1. */
  readonly isFromOne: boolean;
}

/**
 * Reads a whole list. The families count pages from 0 or from 1 and name their parameters differently, so each call
 * has all of them, and rows that came already are skipped.
 */
export async function readList(
  place: ServerPlace,
  path: string,
  onRows: (rows: number) => void,
): Promise<readonly PlainRow[]> {
  const rows = new Map<unknown, PlainRow>();
  let shift = 0;
  for (let at = 0; at < MAX_PAGES; at++) {
    const number = at + shift;
    const query = `p=${number}&page_size=${SIZE}&page=${at + 1}&size=${SIZE}&id_sort=true`;
    const page = readPage(place, path, await readServer(place, `${path}?${query}`));
    const before = rows.size;
    for (const row of page.rows) rows.set(row["id"], row);
    onRows(rows.size - before);
    if (at === 0 && page.isFromOne) shift = 1;
    const isWhole = page.total !== undefined && rows.size >= page.total;
    if (page.rows.length === 0 || isWhole || rows.size === before) break;
  }
  return [...rows.values()];
}

/** Reads a list that the gateway returns at once; undefined if it refuses. */
export async function readWhole(place: ServerPlace, path: string): Promise<readonly PlainRow[] | undefined> {
  const answer = await readServer(place, path);
  const data = isObject(answer) && answer["success"] !== false ? answer["data"] : undefined;
  return Array.isArray(data) ? data.filter(isObject) : undefined;
}

/** Reads an object in the envelope; throws with the gateway's own words if it refuses. */
export async function readOne(place: ServerPlace, path: string): Promise<PlainRow> {
  const answer = await readServer(place, path);
  const data = isObject(answer) ? answer["data"] : undefined;
  if (!isObject(answer) || (answer["success"] !== false && !isObject(data)))
    throw new ServerProblem(`${host(place.address)} does not answer as a gateway of this kind`);
  if (answer["success"] === false) throw new ServerProblem(`${host(place.address)} refused: ${say(answer)}`);
  return data as PlainRow;
}

function say(answer: PlainRow): string {
  return typeof answer["message"] === "string" ? answer["message"].slice(0, 200) : "it said no reason";
}

function readPage({ address }: ServerPlace, path: string, answer: unknown): Page {
  if (!isObject(answer)) throw new ServerProblem(`${host(address)} has no list at ${path}`);
  if (answer["success"] === false) throw new ServerProblem(`${host(address)} refused ${path}: ${say(answer)}`);
  const { data } = answer;
  if (Array.isArray(data)) return { rows: data.filter(isObject), total: undefined, isFromOne: false };
  if (!isObject(data)) return { rows: [], total: undefined, isFromOne: false };
  const { items, total, data: inner, total_count: count } = data;
  if (Array.isArray(items)) return { rows: items.filter(isObject), total: readNumber(total), isFromOne: true };
  if (Array.isArray(inner)) return { rows: inner.filter(isObject), total: readNumber(count), isFromOne: false };
  return { rows: [], total: undefined, isFromOne: false };
}

function readNumber(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
