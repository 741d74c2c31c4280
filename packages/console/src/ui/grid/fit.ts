import type { Column, GridLayout } from "./grid-props.ts";

const USUAL_WIDTH = 96;

type Sized = Pick<Column<never>, "id" | "width" | "rank" | "isTitle" | "isMinor" | "isElastic">;

/** How much more than its part of the declared widths a column gets whose text wraps. */
const ELASTICITY = 1.6;
const MAX_SHARE = 60;

/**
 * Returns the percentage of a table that its elastic column has: with all that is left, a short name would stand before
 * a hole.
 */
export function computeElasticShare(columns: readonly Sized[]): number {
  const sum = (some: readonly Sized[]) => some.reduce((total, { width }) => total + (width ?? USUAL_WIDTH), 0);
  const share = (100 * ELASTICITY * sum(columns.filter(({ isElastic }) => isElastic))) / Math.max(1, sum(columns));
  return Math.min(MAX_SHARE, Math.round(share));
}

function resolveRank({ rank, isTitle, isMinor }: Sized): number {
  return rank ?? (isTitle ? 0 : isMinor ? 2 : 1);
}

/**
 * Returns the ids of the columns that fit into this width, in pixels. Columns that the user hid stay hidden, and
 * columns that the user asked to see stay visible even if the table must then scroll. `spare` hides that many more
 * columns.
 */
export function fittingColumns(
  columns: readonly Sized[],
  room: number,
  layout: GridLayout = {},
  spare = 0,
): ReadonlySet<string> {
  const shown = columns.filter(({ id }) => !layout.hidden?.includes(id));
  const leaving = shown
    .filter((column) => resolveRank(column) > 0 && !layout.shown?.includes(column.id))
    // Among equal ranks, the rightmost column is hidden first.
    .reverse()
    .sort((one, other) => resolveRank(other) - resolveRank(one));
  const ids = new Set(shown.map(({ id }) => id));
  let needed = shown.reduce((sum, { width }) => sum + (width ?? USUAL_WIDTH), 0);
  let more = spare;
  for (const column of leaving) {
    if (needed <= room && more <= 0) break;
    if (needed <= room) more -= 1;
    ids.delete(column.id);
    needed -= column.width ?? USUAL_WIDTH;
  }
  return ids;
}
