import type { Column, GridProps } from "./grid-props.ts";
import { Icon } from "../display/icon.tsx";
import { useTexts } from "../texts.ts";
import type { GridTable } from "./use-grid-table.ts";

interface GridHeadProps<Row> {
  readonly grid: GridProps<Row>;
  readonly table: GridTable;
  readonly columns: readonly Column<Row>[];
}

/** Headers with sort buttons, the checkbox that selects the page, and the column menu. */
export function GridHead<Row>({ grid, table, columns }: GridHeadProps<Row>) {
  const t = useTexts();
  const isSome = table.getIsSomeRowsSelected() && !table.getIsAllRowsSelected();
  return (
    <thead role="rowgroup">
      <tr role="row">
        {grid.selection && (
          <th role="columnheader" className="grid-check">
            <input
              type="checkbox"
              aria-label={t("selectAll")}
              disabled={!grid.rows?.length}
              checked={!!grid.rows?.length && table.getIsAllRowsSelected()}
              ref={(box) => {
                if (box) box.indeterminate = isSome;
              }}
              onChange={table.getToggleAllRowsSelectedHandler()}
            />
          </th>
        )}
        {columns.map((column) => (
          <HeadCell key={column.id} column={column} sort={grid.sort} onSort={grid.onSort} />
        ))}
        {(grid.actions || grid.corner) && (
          <th role="columnheader" className="grid-actions">
            <span className="sr-only">{t("actions")}</span>
            {grid.corner?.(new Set(columns.map(({ id }) => id)))}
          </th>
        )}
      </tr>
    </thead>
  );
}

function HeadCell<Row>(props: {
  column: Column<Row>;
  sort: string | undefined;
  onSort: ((sort: string) => void) | undefined;
}) {
  const t = useTexts();
  const { column, sort, onSort } = props;
  const key = column.sort;
  const style = column.isElastic ? { minWidth: column.width ?? 160 } : undefined;
  if (key === undefined || !onSort) {
    return (
      <th role="columnheader" className={column.align} style={style}>
        {column.header}
      </th>
    );
  }
  const direction = sort === key ? "ascending" : sort === `-${key}` ? "descending" : "none";
  return (
    <th role="columnheader" className={column.align} aria-sort={direction} style={style}>
      <button
        type="button"
        className="grid-sort"
        title={t("sorted", { name: column.header })}
        onClick={() => onSort(direction === "descending" ? key : `-${key}`)}
      >
        {column.header}
        {direction !== "none" && <Icon name={direction === "ascending" ? "up" : "down"} size={12} />}
      </button>
    </th>
  );
}
