import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useRef, useState, type RefObject } from "react";
import { cellCount, GridRow, type RowModel } from "./grid-row.tsx";

/** Rows that are rendered beyond both edges of the window. */
const OVERSCAN = 12;
const HEIGHT = { comfortable: 40, compact: 32 } as const;

interface VirtualRowsProps<Row> {
  readonly model: RowModel<Row>;
  readonly rows: readonly Row[];
  /** Set while these rows are shown: scrolls to one of them. */
  readonly reveal: RefObject<((index: number) => void) | undefined>;
}

/** The rows of a table that are in sight, and the space of all others. */
export function VirtualRows<Row>({ model, rows, reveal }: VirtualRowsProps<Row>) {
  const top = useRef<HTMLTableRowElement>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  const height = HEIGHT[model.grid.layout?.density ?? model.grid.density ?? "comfortable"];
  const virtualizer = useWindowVirtualizer<HTMLTableRowElement>({
    count: rows.length,
    estimateSize: () => height,
    overscan: OVERSCAN,
    scrollMargin,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : model.grid.rowId(row);
    },
  });
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
        return row === undefined ? null : (
          <GridRow key={String(key)} model={model} row={row} index={index} measure={virtualizer.measureElement} />
        );
      })}
      <tr aria-hidden="true" className="grid-space">
        <td colSpan={span} style={{ height: after }} />
      </tr>
    </>
  );
}
