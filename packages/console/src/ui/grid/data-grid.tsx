import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import "./data-grid.css";
import { GridHead } from "./data-grid-head.tsx";
import type { GridProps, Selection } from "./grid-props.ts";
import { Pager, type PagerProps } from "./pager.tsx";
import { useTexts } from "../texts.ts";

/** The one table of the product: plain cells, because styled ones cost ten times as much to scroll. */
export function DataGrid<Row>(props: GridProps<Row>) {
  const t = useTexts();
  const body = useRef<HTMLTableSectionElement>(null);
  const [active, setActive] = useState(0);
  const { pager, isFetching, selection } = props;
  // The last row of the last page was deleted, or an old link points beyond it.
  const isBeyond = props.rows?.length === 0 && pager.page > 1;
  useEffect(() => {
    if (isBeyond && !isFetching) pager.onPage(lastPage(pager));
  });
  useEffect(() => {
    if (props.rows && selection) keepShown(selection, props.rows.map(props.rowId));
  });
  const rows = isBeyond ? undefined : props.rows;
  if (rows !== undefined && rows.length === 0) return <>{props.empty}</>;
  const current = Math.min(active, Math.max(0, (rows?.length ?? 1) - 1));

  function focusRow(index: number): void {
    const row = body.current?.querySelectorAll<HTMLElement>(".grid-row")[index];
    if (!row) return;
    setActive(index);
    row.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    const row = rows?.[current];
    const isOnRow = event.target instanceof HTMLElement && event.target.classList.contains("grid-row");
    if (!row || !isOnRow || event.ctrlKey || event.metaKey || event.altKey) return;
    const action = rowKey(event, row);
    if (!action) return;
    event.preventDefault();
    action();
  }

  function rowKey(event: KeyboardEvent, row: Row): (() => void) | undefined {
    const own = props.keys?.[event.key];
    if (own) return () => own(row);
    switch (event.key) {
      case "ArrowDown":
      case "j":
        return () => focusRow(current + 1);
      case "ArrowUp":
      case "k":
        return () => focusRow(current - 1);
      case "Enter":
        return () => props.onOpen?.(row);
      case " ":
      case "x":
        return () => props.selection?.change(toggled(props.selection.ids, props.rowId(row)));
      case ".":
        return () =>
          body.current
            ?.querySelectorAll<HTMLElement>(".grid-row")
            [current]?.querySelector<HTMLElement>("[data-row-menu]")
            ?.click();
      default:
        return undefined;
    }
  }

  return (
    <div
      className="grid-frame"
      style={{ "--grid-row": props.density === "compact" ? "32px" : "40px" } as React.CSSProperties}
    >
      <div className="grid-scroll" tabIndex={-1}>
        <table
          className="grid"
          role="table"
          aria-label={props.label}
          aria-busy={props.isFetching}
          aria-rowcount={props.pager.total ?? -1}
        >
          <GridHead {...props} />
          <tbody role="rowgroup" ref={body} onKeyDown={onKeyDown}>
            {rows === undefined ? (
              <Bones columns={props.columns.length + (props.selection ? 1 : 0) + (props.actions ? 1 : 0)} />
            ) : (
              rows.map((row, index) => (
                <GridRow
                  key={props.rowId(row)}
                  grid={props}
                  row={row}
                  index={index}
                  isActive={index === current}
                  onFocus={() => setActive(index)}
                />
              ))
            )}
          </tbody>
        </table>
      </div>
      {props.isFetching && rows !== undefined && (
        <div className="grid-progress" role="progressbar" aria-label={t("loading")} />
      )}
      <Pager {...props.pager} shown={rows?.length} />
    </div>
  );
}

/** The last page that has rows, always before the one that has none. */
function lastPage({ page, size, total }: PagerProps): number {
  return Math.max(1, Math.min(page - 1, Math.ceil((total ?? 0) / size)));
}

/** What is done with the selected rows happens to rows in sight, not to those of another page or filter. */
function keepShown(selection: Selection, shown: readonly number[]): void {
  const remaining = shown.filter((id) => selection.ids.has(id));
  if (remaining.length < selection.ids.size) selection.change(new Set(remaining));
}

function toggled(ids: ReadonlySet<number>, id: number): ReadonlySet<number> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}

function GridRow<Row>(props: {
  grid: GridProps<Row>;
  row: Row;
  index: number;
  isActive: boolean;
  onFocus: () => void;
}) {
  const t = useTexts();
  const { grid, row } = props;
  const id = grid.rowId(row);
  const isSelected = grid.selection?.ids.has(id) ?? false;
  const isOpen = grid.opened === id;
  return (
    <>
      <tr
        role="row"
        className={`grid-row${grid.isMuted?.(row) ? " is-muted" : ""}`}
        aria-rowindex={props.index + 2}
        aria-selected={grid.selection ? isSelected : undefined}
        tabIndex={props.isActive ? 0 : -1}
        onFocus={(event) => event.target === event.currentTarget && props.onFocus()}
      >
        {grid.selection && (
          <td role="cell" className="grid-check">
            <input
              type="checkbox"
              aria-label={t("selectRow", { name: grid.rowName(row) })}
              checked={isSelected}
              onChange={() => grid.selection?.change(toggled(grid.selection.ids, id))}
            />
          </td>
        )}
        {grid.columns.map((column) => (
          <td
            key={column.id}
            role="cell"
            data-label={column.header}
            className={
              [
                column.align,
                column.isTitle && "is-title",
                column.isMinor && "is-minor",
                column.isElastic && "is-elastic",
              ]
                .filter(Boolean)
                .join(" ") || undefined
            }
          >
            {column.cell(row)}
          </td>
        ))}
        {grid.actions && (
          <td role="cell" className="grid-actions">
            {grid.actions(row)}
          </td>
        )}
      </tr>
      {isOpen && grid.detail && (
        <tr role="row" className="grid-detail">
          <td role="cell" colSpan={grid.columns.length + (grid.selection ? 1 : 0) + (grid.actions ? 1 : 0)}>
            {grid.detail(row)}
          </td>
        </tr>
      )}
    </>
  );
}

const BONE_ROWS = 10;
const BONE_WIDTHS = ["60%", "40%", "75%", "50%"];

/** Grey lines with the geometry of the rows to come. */
function Bones(props: { readonly columns: number }) {
  return Array.from({ length: BONE_ROWS }, (_, row) => (
    <tr key={row} role="row" aria-hidden="true">
      {Array.from({ length: props.columns }, (__, column) => (
        <td key={column} role="cell">
          <span className="grid-bone" style={{ width: BONE_WIDTHS[(row + column) % BONE_WIDTHS.length] }} />
        </td>
      ))}
    </tr>
  ));
}
