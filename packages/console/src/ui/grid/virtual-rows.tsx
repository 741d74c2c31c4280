import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useLayoutEffect, useRef, useState, type RefObject } from "react";
import type { Density } from "./grid-props.ts";
import { cellCount, GridRow, type RowModel } from "./grid-row.tsx";

/** How many rows are rendered beyond each edge of the window. */
const OVERSCAN = 5;
/** Row heights until the first row is measured. */
const HEIGHT: Readonly<Record<Density, number>> = { comfortable: 40, compact: 32 };

interface VirtualRowsProps<Row> {
  readonly model: RowModel<Row>;
  readonly rows: readonly Row[];
  /** Set while these rows are shown: scrolls to one of them. */
  readonly reveal: RefObject<((index: number) => void) | undefined>;
}

/** The visible rows of a table, and the space of all others. */
export function VirtualRows<Row>({ model, rows, reveal }: VirtualRowsProps<Row>) {
  const top = useRef<HTMLTableRowElement>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  const density = model.grid.layout?.density ?? model.grid.density ?? "comfortable";
  const [height, setHeight] = useState(HEIGHT[density]);
  const { rowId } = model.grid;
  // A new function here would make the virtualizer measure all rows again on each frame of scrolling.
  const getItemKey = useCallback(
    (index: number) => {
      const row = rows[index];
      return row === undefined ? index : rowId(row);
    },
    [rows, rowId],
  );
  const virtualizer = useWindowVirtualizer<HTMLTableRowElement>({
    count: rows.length,
    estimateSize: () => height,
    overscan: OVERSCAN,
    scrollMargin,
    getItemKey,
  });
  useFixedWidths(top, model);
  useLayoutEffect(() => {
    const row = top.current?.parentElement?.querySelector<HTMLElement>(".grid-row");
    if (row) setHeight(row.offsetHeight);
  }, [density, model.columns]);
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, height]);
  useLayoutEffect(() => {
    if (top.current) setScrollMargin(top.current.getBoundingClientRect().top + scrollY);
    reveal.current = (index) => virtualizer.scrollToIndex(index, { align: "center" });
    return () => (reveal.current = undefined);
  }, [virtualizer, reveal]);
  const items = virtualizer.getVirtualItems();
  const before = (items[0]?.start ?? scrollMargin) - scrollMargin;
  const after = virtualizer.getTotalSize() - ((items.at(-1)?.end ?? scrollMargin) - scrollMargin);
  const span = cellCount(model);
  return (
    <>
      <tr ref={top} aria-hidden="true" className="grid-space">
        <td colSpan={span} style={{ height: before }} />
      </tr>
      {items.map(({ index, key }) => {
        const row = rows[index];
        return row === undefined ? null : <GridRow key={String(key)} model={model} row={row} index={index} />;
      })}
      <tr aria-hidden="true" className="grid-space">
        <td colSpan={span} style={{ height: after }} />
      </tr>
    </>
  );
}

/**
 * Fixes the column widths to those of the first rows. Otherwise the columns would move while the table scrolls, and the
 * browser would lay out the whole table on each frame.
 */
function useFixedWidths<Row>(top: RefObject<HTMLElement | null>, model: RowModel<Row>): void {
  useLayoutEffect(() => {
    const table = top.current?.closest("table");
    if (!table) return;
    const cells = [...table.querySelectorAll("th")];
    const release = () => {
      table.style.tableLayout = "";
      for (const cell of cells) cell.style.width = "";
    };
    const fix = () => {
      release();
      const widths = cells.map(({ offsetWidth }) => offsetWidth);
      for (const [index, cell] of cells.entries()) cell.style.width = `${widths[index] ?? 0}px`;
      table.style.tableLayout = "fixed";
    };
    let width = 0;
    // Its height changes with the rows.
    const observer = new ResizeObserver(([entry]) => {
      if (!entry || entry.contentRect.width === width) return;
      width = entry.contentRect.width;
      fix();
    });
    if (table.parentElement) observer.observe(table.parentElement);
    return () => {
      observer.disconnect();
      release();
    };
  }, [top, model.columns]);
}
