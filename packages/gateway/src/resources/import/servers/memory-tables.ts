import { ForeignRow, type ForeignDatabase } from "../../../storage/foreign.ts";

export type PlainRow = Readonly<Record<string, unknown>>;

const PAGE = 500;

/** Offers rows that were read from the calls of a gateway as if they were its database. */
export function createMemoryTables(tables: Readonly<Record<string, readonly PlainRow[]>>): ForeignDatabase {
  const has = (table: string) => Object.hasOwn(tables, table);
  return {
    has: (table) => Promise.resolve(has(table)),
    count: (table) => Promise.resolve(has(table) ? (tables[table]?.length ?? 0) : 0),
    async *pages(table, key = "id", labels = [key]) {
      const rows = (has(table) ? (tables[table] ?? []) : []).map((values) => new ForeignRow(values, table, labels));
      const sorted = rows.toSorted((one, other) =>
        key === "id" ? one.int(key) - other.int(key) : compare(one.text(key), other.text(key)),
      );
      for (let at = 0; at < sorted.length; at += PAGE) yield sorted.slice(at, at + PAGE);
    },
    sums(table, { by, sum, where, since }) {
      const chosen = (has(table) ? (tables[table] ?? []) : [])
        .map((values) => new ForeignRow(values, table))
        .filter((row) => row.text(where.column) === where.value);
      const groups = [...Map.groupBy(chosen, (row) => row.text(by))].toSorted(([one], [other]) => compare(one, other));
      const later = (row: ForeignRow) => (row.text(since.column) >= since.value ? row.decimal(sum) : 0);
      return Promise.resolve(
        groups.map(([value, rows]) => {
          const total = rows.reduce((all, row) => all + later(row), 0);
          return new ForeignRow({ [by]: value, [sum]: total }, table, [by]);
        }),
      );
    },
    close: () => Promise.resolve(),
  };
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
