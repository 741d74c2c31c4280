import { invalidRequest } from "../lib/app-error.ts";
import { findOwnBatch, listOwnBatches, type BatchOwner } from "./store.ts";
import type { BatchDeps, BatchRow } from "./types.ts";

const DEFAULT_LIMIT = 20;

/** How a protocol names the parameters of a list. */
interface PageNames {
  readonly after: string;
  readonly before: string;
  readonly maxLimit: number;
}

const ANTHROPIC_NAMES: PageNames = { after: "after_id", before: "before_id", maxLimit: 1_000 };

/** Returns the requested page of a list, newest first. Throws for ids and limits that fit nothing. */
export async function readPage(
  query: URLSearchParams,
  owner: BatchOwner,
  deps: Pick<BatchDeps, "database">,
  names: PageNames = ANTHROPIC_NAMES,
): Promise<{ readonly rows: readonly BatchRow[]; readonly hasMore: boolean }> {
  const limit = readLimit(query.get("limit"), names.maxLimit);
  const edge = await findEdge(query, owner, deps, names);
  const found = await listOwnBatches(deps, owner, { limit }, edge);
  const rows = found.slice(0, limit);
  return { rows: edge?.side === "before" ? rows.toReversed() : rows, hasMore: found.length > limit };
}

interface Edge {
  readonly row: BatchRow;
  readonly side: "before" | "after";
}

/** Returns the batch that the page comes before or after; undefined for the first page. */
async function findEdge(
  query: URLSearchParams,
  owner: BatchOwner,
  deps: Pick<BatchDeps, "database">,
  names: PageNames,
): Promise<Edge | undefined> {
  const after = query.get(names.after);
  const before = query.get(names.before);
  if (after !== null && before !== null)
    throw invalidRequest(names.before, `${names.before}: it cannot be sent together with ${names.after}.`);
  const id = after ?? before;
  if (id === null) return undefined;
  const side = after === null ? "before" : "after";
  const row = await findOwnBatch(deps, owner, id);
  if (!row) throw invalidRequest(names[side], `${names[side]}: no batch has this id.`);
  return { row, side };
}

export function buildPage(data: readonly unknown[], hasMore: boolean): object {
  const readId = (item: unknown) => (item as { readonly id: string } | undefined)?.id ?? null;
  return { data, has_more: hasMore, first_id: readId(data[0]), last_id: readId(data.at(-1)) };
}

function readLimit(text: string | null, maxLimit: number): number {
  if (text === null || text === "") return DEFAULT_LIMIT;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= maxLimit) return limit;
  throw invalidRequest("limit", `limit: it must be a whole number from 1 to ${maxLimit}.`);
}
