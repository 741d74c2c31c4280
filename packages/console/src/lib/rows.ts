import type { Endpoint, Output } from "@fairway/wire";
import { request, type CallInput } from "./http.ts";
import { HttpProblem } from "./problems.ts";
import { queryClient } from "./query.ts";

/** One page of a list. */
export interface Rows<R> {
  readonly rows: readonly R[];
  /** Rows that match before paging. */
  readonly total: number | undefined;
}

type EndpointRow<E extends Endpoint> = E extends { data: infer S }
  ? S extends { _zod: { output: (infer R)[] } }
    ? R
    : never
  : never;

/** Reads one page of a list whose answer is a bare array. Throws HttpProblem if it is anything else. */
export async function readRows<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<Rows<EndpointRow<E>>> {
  const answer = await request(endpoint, input);
  // Compatible servers return null for an empty list.
  const rows: unknown = answer.data ?? [];
  if (!Array.isArray(rows)) throw new HttpProblem(200, "");
  return { rows: rows as EndpointRow<E>[], total: answer.total };
}

/** One row as it was read, and the tag to send with an edit of it. */
export interface Version<R> {
  readonly row: R;
  readonly tag: string | undefined;
}

export async function readVersion<E extends Endpoint>(
  endpoint: E,
  input: CallInput<E>,
): Promise<Version<Output<E["data"]>>> {
  const { data, tag } = await request(endpoint, input);
  return { row: data, tag };
}

type Key = readonly unknown[];

function patchRows<R extends { id: number }>(key: Key, id: number, change: (row: R) => R): void {
  queryClient.setQueriesData<Rows<R>>({ queryKey: key }, (page) =>
    page === undefined ? page : { ...page, rows: page.rows.map((row) => (row.id === id ? change(row) : row)) },
  );
}

interface RowChange<R> {
  /** Prefix of the query keys whose pages may show the row. */
  readonly key: Key;
  readonly row: R;
  readonly patch: Partial<R>;
  /** Sends the change; the answer replaces the row. */
  send(): Promise<Partial<R>>;
}

/** Shows a change at once, adopts the server's answer, and reverts it if the server refuses. */
export async function changeRow<R extends { id: number }>(change: RowChange<R>): Promise<void> {
  const { key, row, patch } = change;
  await queryClient.cancelQueries({ queryKey: key });
  patchRows<R>(key, row.id, (current) => ({ ...current, ...patch }));
  try {
    const saved = await change.send();
    patchRows<R>(key, row.id, (current) => ({ ...current, ...saved }));
  } catch (problem) {
    patchRows<R>(key, row.id, () => row);
    throw problem;
  }
}

/** Returns the query members of a sorted header: `-priority` is descending. */
export function sortQuery(sort: string): { sort?: string; order?: string } {
  if (sort === "") return {};
  return sort.startsWith("-") ? { sort: sort.slice(1), order: "desc" } : { sort, order: "asc" };
}
