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
}

/** The first `limit` rows of a list whose pages count from 0. */
export async function rowsUpTo<Row>(
  limit: number,
  read: (page: { readonly p: number; readonly page_size: number }) => Promise<Page<Row>>,
): Promise<Rows<Row>> {
  const rows: Row[] = [];
  let count: number | undefined;
  let first = 0;
  let isLast = false;
  // One row beyond the limit tells whether there are more, where the gateway does not count.
  for (let p = 0; !isLast && rows.length <= limit; p++) {
    const { data, total } = await read({ p, page_size: SIZE });
    rows.push(...data);
    count = total;
    first ||= data.length;
    // A compatible gateway may answer fewer rows at once than it is asked for.
    const isWhole = total === undefined ? data.length < first : rows.length >= Math.min(total, limit);
    isLast = data.length === 0 || isWhole;
  }
  const isCut = rows.length > limit || (count !== undefined && count > rows.length);
  return { rows: rows.slice(0, limit), isCut, total: count };
}
