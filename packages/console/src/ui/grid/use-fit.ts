import { useLayoutEffect, useMemo, useRef, useState, type RefObject } from "react";
import { fittingColumns } from "./fit.ts";
import type { GridProps } from "./grid-props.ts";

const CHECK_WIDTH = 42;
const ACTIONS_WIDTH = 84;
const CORNER_WIDTH = 48;
const EDGE = 14;
/** Phones show rows as cards, with a line for every column. */
const PHONE = "(max-width: 600px)";

interface Fit {
  /** Wraps the table. */
  readonly frame: RefObject<HTMLDivElement | null>;
  readonly shown: ReadonlySet<string>;
  /** The table is wider than its frame, so it scrolls. */
  readonly isWide: boolean;
  /** Pixels of the frame; 0 before it is measured. */
  readonly width: number;
}

function hasNoRoom(frame: HTMLElement): boolean {
  const table = frame.querySelector("table");
  return table !== null && table.offsetWidth > frame.clientWidth + 1;
}

/**
 * Chooses the columns that fit into the frame, first by their declared widths and then by the measured widths of their
 * content.
 */
export function useFit<Row>(props: GridProps<Row>): Fit {
  const { columns, rows, layout, selection, actions, corner } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [isPhone, setPhone] = useState(false);
  // A correction applies to the width and columns that it was measured with.
  const [spare, setSpare] = useState({ key: "", count: 0 });
  const [isWide, setWide] = useState(false);
  const reserved = (selection ? CHECK_WIDTH : EDGE) + (actions ? ACTIONS_WIDTH : corner ? CORNER_WIDTH : EDGE);
  const isMeasured = width > 0 && !isPhone;
  const key = `${width} ${columns.map(({ id }) => id).join(" ")} ${JSON.stringify(layout)}`;
  const count = spare.key === key ? spare.count : 0;
  const shown = useMemo(
    () => fittingColumns(columns, isMeasured ? width - reserved : Infinity, layout, count),
    [columns, isMeasured, width, reserved, layout, count],
  );

  useLayoutEffect(() => {
    const box = frame.current;
    if (!box) return;
    const read = () => {
      setWidth(box.clientWidth);
      setPhone(matchMedia(PHONE).matches);
    };
    read();
    const observer = new ResizeObserver(read);
    observer.observe(box);
    return () => observer.disconnect();
  }, [rows === undefined || rows.length > 0]);

  useLayoutEffect(() => {
    const box = frame.current;
    if (!box || !isMeasured || rows === undefined) return;
    const isTight = hasNoRoom(box);
    const isLess = isTight && fittingColumns(columns, width - reserved, layout, count + 1).size < shown.size;
    if (isLess) setSpare({ key, count: count + 1 });
    setWide(isTight && !isLess);
  }, [rows, columns, isMeasured, width, reserved, layout, count, key, shown]);

  return { frame, shown, isWide, width };
}
