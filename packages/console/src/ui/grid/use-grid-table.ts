import {
  columnOrderingFeature,
  columnVisibilityFeature,
  rowSelectionFeature,
  tableFeatures,
  useTable,
  type RowData,
  type RowSelectionState,
} from "@tanstack/react-table";
import { useMemo } from "react";
import type { Column, GridProps } from "./grid-props.ts";

const features = tableFeatures({ columnOrderingFeature, columnVisibilityFeature, rowSelectionFeature });

const NO_ROWS: readonly never[] = [];

/** Returns the table model: the columns in their order, and the selected rows. */
export function useGridTable<Row>(props: GridProps<Row>, shown: ReadonlySet<string>) {
  const { columns, rows, rowId, selection, layout } = props;
  const definitions = useMemo(() => columns.map(({ id, header }) => ({ id, header })), [columns]);
  const ids = selection?.ids;
  const rowSelection = useMemo(
    () => Object.fromEntries([...(ids ?? [])].map((id) => [String(id), true as const])),
    [ids],
  );
  const columnVisibility = useMemo(
    () => Object.fromEntries(columns.map(({ id }) => [id, shown.has(id)])),
    [columns, shown],
  );
  const columnOrder = useMemo(() => ordered(columns, layout?.order), [columns, layout?.order]);
  const table = useTable({
    features,
    columns: definitions,
    // The model needs only their ids.
    data: (rows ?? NO_ROWS) as readonly RowData[],
    getRowId: (row) => String(rowId(row as Row)),
    state: { rowSelection, columnVisibility, columnOrder },
    onRowSelectionChange: (updater) => {
      const next: RowSelectionState = typeof updater === "function" ? updater(rowSelection) : updater;
      selection?.change(new Set(Object.keys(next).map(Number)));
    },
  });
  const order = table
    .getVisibleLeafColumns()
    .map(({ id }) => id)
    .join(" ");
  const visible = useMemo(() => {
    const byId = new Map(columns.map((column) => [column.id, column]));
    return order.split(" ").flatMap((id): Column<Row>[] => {
      const column = byId.get(id);
      return column ? [column] : [];
    });
  }, [columns, order]);
  return { table, visible };
}

export type GridTable = ReturnType<typeof useGridTable>["table"];

/** Returns columns in the chosen order; unknown ones follow the column that they are declared after. */
export function ordered<Row>(
  columns: readonly Pick<Column<Row>, "id">[],
  order: readonly string[] | undefined,
): string[] {
  const ids = columns.map(({ id }) => id);
  if (!order) return ids;
  const result = order.filter((id) => ids.includes(id));
  for (const [index, id] of ids.entries()) {
    if (result.includes(id)) continue;
    const before = ids[index - 1];
    result.splice(before === undefined ? 0 : result.indexOf(before) + 1, 0, id);
  }
  return result;
}
