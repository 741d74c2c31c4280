interface Page<Row> {
  readonly data: readonly Row[];
  readonly total: number | undefined;
}

/** What the calls of all lists take at once. */
const SIZE = 100;

/** The first `limit` rows of a list whose pages count from 0. */
export async function rowsUpTo<Row>(
  limit: number,
  read: (page: { readonly p: number; readonly page_size: number }) => Promise<Page<Row>>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let p = 0; rows.length < limit; p++) {
    const { data, total } = await read({ p, page_size: SIZE });
    rows.push(...data);
    if (data.length < SIZE || (total !== undefined && rows.length >= total)) break;
  }
  return rows.slice(0, limit);
}
