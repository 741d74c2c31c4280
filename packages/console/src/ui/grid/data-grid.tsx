import { Suspense, useEffect, useMemo, useRef, type CSSProperties } from "react";
import "./data-grid.css";
import { GridHead } from "./data-grid-head.tsx";
import { computeElasticShare } from "./fit.ts";
import { onGridKey } from "./grid-keys.ts";
import { usePlaceholder } from "../feedback/placeholders.ts";
import type { GridProps } from "./grid-props.ts";
import { cellCount, GridRow, type RowModel } from "./grid-row.tsx";
import { Pager, type PagerProps } from "./pager.tsx";
import { SelectAllBar } from "./select-all-bar.tsx";
import { useFit } from "./use-fit.ts";
import { useGridTable } from "./use-grid-table.ts";
import { useRoving } from "./use-roving.ts";
import { useTexts } from "../texts.ts";
import { late } from "../late/late.tsx";

const VirtualRows = late(async () => (await import("./virtual-rows.tsx")).VirtualRows);

/** Longer tables than one server page are virtualised; up to this number, the browser's own search finds all rows. */
const MAX_PLAIN_ROWS = 200;

/** The one table of the product. Its cells are plain, because styled ones take ten times as long to scroll. */
export function DataGrid<Row>(props: GridProps<Row>) {
  const { pager, isFetching } = props;
  // The last row of the last page was deleted, or an old link points beyond it.
  const isBeyond = props.rows?.length === 0 && pager.page > 1;
  useEffect(() => {
    if (isBeyond && !isFetching) pager.onPage(lastPage(pager));
  });
  const rows = isBeyond ? undefined : props.rows;
  if (rows !== undefined && rows.length === 0) return <>{props.empty}</>;
  return <Grid {...props} rows={rows} />;
}

function Grid<Row>(props: GridProps<Row>) {
  const t = useTexts();
  const { rows } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const reveal = useRef<(index: number) => void>(undefined);
  const { frame, shown, isWide, width } = useFit(props);
  const { table, visible } = useGridTable(props, shown);
  // Unchanged rows are not rendered again while the table scrolls.
  const model: RowModel<Row> = useMemo(() => ({ grid: props, table, columns: visible }), [props, table, visible]);
  useRoving(body, rows !== undefined);
  const density = props.layout?.density ?? props.density;
  const isVirtual = rows !== undefined && rows.length > MAX_PLAIN_ROWS;
  const sizes = {
    "--grid-row": density === "compact" ? "32px" : "40px",
    "--grid-width": `${width}px`,
    "--grid-elastic": `${computeElasticShare(visible)}%`,
  };
  return (
    <div className={frameClass(width)} style={sizes as CSSProperties}>
      <SelectAllBar selection={props.selection} shown={rows?.length ?? 0} />
      <div ref={frame} className={isWide ? "grid-scroll is-wide" : "grid-scroll"} tabIndex={isWide ? 0 : -1}>
        <table
          className={["grid", props.selection && "has-check", isVirtual && "is-virtual"].filter(Boolean).join(" ")}
          role="table"
          aria-label={props.label}
          aria-busy={props.isFetching}
          aria-rowcount={props.pager.total ?? -1}
        >
          <GridHead grid={props} table={table} columns={visible} />
          <tbody
            role="rowgroup"
            ref={body}
            onKeyDown={(event) => {
              if (!body.current || !rows) return;
              const scroll = reveal.current;
              onGridKey({ model, rows, body: body.current, ...(scroll && { reveal: scroll }) }, event);
            }}
          >
            {rows === undefined && <Bones columns={cellCount(model)} />}
            {isVirtual && (
              <Suspense fallback={<Bones columns={cellCount(model)} />}>
                <VirtualRows model={model as RowModel<unknown>} rows={rows} reveal={reveal} />
              </Suspense>
            )}
            {!isVirtual &&
              rows?.map((row, index) => <GridRow key={props.rowId(row)} model={model} row={row} index={index} />)}
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

/** Classes for widths, because container queries recalculate styles on each layout of a long table. */
const NARROW = 1_400;
const TIGHT = 1_150;

function frameClass(width: number): string {
  if (width === 0 || width > NARROW) return "grid-frame";
  return width > TIGHT ? "grid-frame is-narrow" : "grid-frame is-narrow is-tight";
}

/** Returns the last page with rows, always before the empty one. */
function lastPage({ page, size, total }: PagerProps): number {
  return Math.max(1, Math.min(page - 1, Math.ceil((total ?? 0) / size)));
}

/** More rows than a window shows, so that the pager is at its final position. */
const BONE_ROWS = 25;
const BONE_WIDTHS = ["60%", "40%", "75%", "50%"];

/** Grey lines with the size of the expected rows. */
function Bones(props: { readonly columns: number }) {
  usePlaceholder();
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
