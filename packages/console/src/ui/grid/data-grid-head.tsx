import type { Column, GridProps } from "./grid-props.ts";
import { Icon } from "../display/icon.tsx";
import { useTexts } from "../texts.ts";

/** Headers with sort buttons and the box that selects the page. */
export function GridHead<Row>(props: GridProps<Row>) {
  const t = useTexts();
  const ids = props.rows?.map((row) => props.rowId(row)) ?? [];
  const chosen = ids.filter((id) => props.selection?.ids.has(id)).length;
  return (
    <thead role="rowgroup">
      <tr role="row">
        {props.selection && (
          <th role="columnheader" className="grid-check">
            <input
              type="checkbox"
              aria-label={t("selectAll")}
              disabled={ids.length === 0}
              checked={ids.length > 0 && chosen === ids.length}
              ref={(box) => {
                if (box) box.indeterminate = chosen > 0 && chosen < ids.length;
              }}
              onChange={(event) => props.selection?.change(new Set(event.target.checked ? ids : []))}
            />
          </th>
        )}
        {props.columns.map((column) => (
          <HeadCell key={column.id} column={column} sort={props.sort} onSort={props.onSort} />
        ))}
        {props.actions && (
          <th role="columnheader" className="grid-actions">
            <span className="sr-only">{t("actions")}</span>
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
  if (key === undefined || !onSort) {
    return (
      <th role="columnheader" className={column.align}>
        {column.header}
      </th>
    );
  }
  const direction = sort === key ? "ascending" : sort === `-${key}` ? "descending" : "none";
  return (
    <th role="columnheader" className={column.align} aria-sort={direction}>
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
