import { CliError, EXIT } from "../core/exit.ts";
import { isForPeople, noteCut, openRows, printList, type Output, type Shape } from "../print/output.ts";
import type { RowPrinter } from "../print/rows.ts";
import type { Column } from "../print/table.ts";

interface Page<Row> {
  readonly data: readonly Row[];
  readonly total: number | undefined;
}

/** The page size for reading whole lists. */
const SIZE = 100;

/** The beginning of a list. */
export interface Rows<Row> {
  readonly rows: readonly Row[];
  /** Whether the gateway has more rows. */
  readonly isCut: boolean;
  /** The number of all rows, if the gateway counts them. */
  readonly total: number | undefined;
  /** The number of this page, if it is not the first. */
  readonly page?: number;
}

/** A part of a list: its first `limit` rows, or those of a later page. */
export interface Part {
  readonly limit: number;
  /** From 1, of `limit` rows each. */
  readonly page?: number;
}

type Read<Row> = (page: { readonly p: number; readonly page_size: number }) => Promise<Page<Row>>;

/** Reads a list whose pages count from 0: the first rows up to a number, or a part. */
export async function rowsUpTo<Row>(wanted: number | Part, read: Read<Row>): Promise<Rows<Row>> {
  const { limit, page = 1 } = typeof wanted === "number" ? { limit: wanted } : wanted;
  return page === 1 ? firstRows(limit, read) : laterRows({ limit, page }, read);
}

/**
 * Returns the rows that a command lists. Sorting needs every row, because the gateway's last row may be the first one
 * shown; `printList` then takes the part.
 */
async function rowsToList<Row>(
  part: Part,
  { sort }: { readonly sort?: string | undefined },
  read: Read<Row>,
): Promise<Rows<Row> & { readonly part?: Part }> {
  if (sort === undefined) return rowsUpTo(part, read);
  calculateOffset(part);
  return { ...(await rowsUpTo(Infinity, read)), part };
}

/** `--page` counts pages of `--limit` rows. */
export function calculateOffset({ limit, page = 1 }: Part): number {
  if (page === 1) return 0;
  if (Number.isFinite(limit)) return (page - 1) * limit;
  throw new CliError("--page requires --limit", EXIT.usage, "write --limit 100, or leave out --page");
}

async function laterRows<Row>({ limit, page }: Required<Part>, read: Read<Row>): Promise<Rows<Row>> {
  const offset = calculateOffset({ limit, page });
  const first = Math.floor(offset / SIZE);
  const { data, total } = await read({ p: first, page_size: SIZE });
  // A compatible gateway may use another page size or not count rows; then only reading from the start is safe.
  const isThere = total !== undefined && data.length === Math.max(0, Math.min(SIZE, total - first * SIZE));
  const rows = [...data];
  if (isThere) {
    for (let p = first + 1; rows.length < offset - first * SIZE + limit && p * SIZE < total; p++)
      rows.push(...(await read({ p, page_size: SIZE })).data);
    const shown = rows.slice(offset - first * SIZE).slice(0, limit);
    return { rows: shown, isCut: offset + shown.length < total, total, page };
  }
  const all = await firstRows(offset + limit, read);
  return { ...all, rows: all.rows.slice(offset), page };
}

async function firstRows<Row>(limit: number, read: Read<Row>): Promise<Rows<Row>> {
  const rows: Row[] = [];
  let total: number | undefined;
  for await (const page of readPages(limit, read)) {
    rows.push(...page.data);
    ({ total } = page);
  }
  return { rows: rows.slice(0, limit), isCut: isCutAt(limit, rows.length, total), total };
}

function isCutAt(limit: number, read: number, total: number | undefined): boolean {
  return read > limit || (total !== undefined && total > read);
}

/** Yields pages until they hold the first rows. */
async function* readPages<Row>(limit: number, read: Read<Row>): AsyncGenerator<Page<Row>> {
  let count = 0;
  let first = 0;
  let isLast = false;
  // If the gateway does not count, one row beyond the limit shows whether there are more.
  for (let p = 0; !isLast && count <= limit; p++) {
    const page = await read({ p, page_size: SIZE });
    const { data, total } = page;
    yield page;
    count += data.length;
    first ||= data.length;
    // A compatible gateway may return fewer rows than requested.
    const isWhole = total === undefined ? data.length < first : count >= Math.min(total, limit);
    isLast = data.length === 0 || isWhole;
  }
}

/** A list that the gateway returns in pages. */
interface PagedList<Row, Shown extends object> extends Shape<Shown> {
  /** Removes what is not shown. */
  readonly toShown: (row: Row) => Shown;
  /** Returns the columns for people, which may need a further call. */
  readonly columnsFor?: (rows: readonly Row[]) => Promise<readonly Column<Shown>[]>;
  /** The hint for an empty list. */
  readonly empty: string;
}

/** Prints a part of a list. Programs get rows as they arrive, so that a long list needs no memory. */
export async function printPart<Row, Shown extends object>(
  output: Output,
  part: Part,
  list: PagedList<Row, Shown>,
  read: Read<Row>,
): Promise<void> {
  const { toShown, columnsFor, ...shape } = list;
  if (!isForPeople(output) && output.sort === undefined && (part.page ?? 1) === 1)
    return streamRows(output, part.limit, list, read);
  const found = await rowsToList(part, output, read);
  const columns = columnsFor && isForPeople(output) ? await columnsFor(found.rows) : shape.columns;
  await printList(output, { ...shape, ...found, columns, rows: found.rows.map(toShown) });
}

async function streamRows<Row, Shown extends object>(
  output: Output,
  limit: number,
  list: PagedList<Row, Shown>,
  read: Read<Row>,
): Promise<void> {
  let printer: RowPrinter<Shown> | undefined;
  let count = 0;
  let total: number | undefined;
  for await (const page of readPages(limit, read)) {
    // A list that cannot be read prints nothing, not even titles.
    printer ??= await openRows(output, list);
    for (const row of page.data.slice(0, Math.max(0, limit - count))) printer.add(list.toShown(row));
    count += page.data.length;
    ({ total } = page);
    await output.room();
  }
  const isCut = isCutAt(limit, count, total);
  printer?.end({ isCut, total });
  noteCut(output, Math.min(count, limit), { isCut, total });
}
