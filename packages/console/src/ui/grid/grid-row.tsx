import { memo, type MouseEvent, type ReactNode } from "react";
import type { Column, GridProps } from "./grid-props.ts";
import { useTexts } from "../texts.ts";
import type { GridTable } from "./use-grid-table.ts";

/** State that all rows of a table share; created once per table state. */
export interface RowModel<Row> {
  readonly grid: GridProps<Row>;
  readonly table: GridTable;
  readonly columns: readonly Column<Row>[];
}

interface GridRowProps<Row> {
  readonly model: RowModel<Row>;
  readonly row: Row;
  readonly index: number;
}

const CONTROLS = "a, button, input, select, textarea, label, summary, [role=button]";

/** Returns true for a click on plain text of the row; a click that selects text does not count. */
function isPlainClick({ target, currentTarget }: MouseEvent): boolean {
  if (!(target instanceof Element) || !currentTarget.contains(target) || target.closest(CONTROLS)) return false;
  return getSelection()?.isCollapsed ?? true;
}

function GridRowPlain<Row>(props: GridRowProps<Row>) {
  const t = useTexts();
  const { model, row, index } = props;
  const { grid, table, columns } = model;
  const id = grid.rowId(row);
  const entry = grid.selection ? table.getRow(String(id)) : undefined;
  const isOpen = grid.opened === id;
  return (
    <>
      <tr
        role="row"
        data-index={index}
        className={rowClass(grid, row, isOpen)}
        aria-rowindex={(grid.pager.page - 1) * grid.pager.size + index + 2}
        aria-selected={entry?.getIsSelected()}
        tabIndex={-1}
        onClick={(event) => isPlainClick(event) && grid.onOpen?.(row)}
      >
        {entry && (
          <td role="cell" className="grid-check">
            <input
              type="checkbox"
              aria-label={t("selectRow", { name: grid.rowName(row) })}
              checked={entry.getIsSelected()}
              onChange={entry.getToggleSelectedHandler()}
            />
          </td>
        )}
        {columns.map((column) => (
          <td key={column.id} role="cell" data-label={column.header} className={cellClass(column)}>
            {column.cell(row)}
          </td>
        ))}
        {(grid.actions || grid.corner) && (
          <td role="cell" className="grid-actions">
            {grid.actions?.(row)}
          </td>
        )}
      </tr>
      {isOpen && grid.detail && <Detail span={cellCount(model)}>{grid.detail(row)}</Detail>}
    </>
  );
}

export const GridRow = memo(GridRowPlain) as typeof GridRowPlain;

function Detail(props: { readonly span: number; readonly children: ReactNode }) {
  return (
    <tr role="row" className="grid-detail">
      <td role="cell" colSpan={props.span}>
        {props.children}
      </td>
    </tr>
  );
}

export function cellCount<Row>({ grid, columns }: Pick<RowModel<Row>, "grid" | "columns">): number {
  return columns.length + (grid.selection ? 1 : 0) + (grid.actions || grid.corner ? 1 : 0);
}

function rowClass<Row>(grid: GridProps<Row>, row: Row, isOpen: boolean): string {
  const names = ["grid-row", grid.isMuted?.(row) && "is-muted", grid.onOpen && "is-opening", isOpen && "is-open"];
  return names.filter(Boolean).join(" ");
}

function cellClass<Row>({ align, isTitle, isMinor, isElastic }: Column<Row>): string | undefined {
  const names = [align, isTitle && "is-title", isMinor && "is-minor", isElastic && "is-elastic"].filter(Boolean);
  return names.join(" ") || undefined;
}
