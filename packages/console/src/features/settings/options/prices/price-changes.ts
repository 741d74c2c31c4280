import type { OptionPrice } from "@fairway/wire";
import { toPriceCells, PRICE_CELLS, type Cells, type PriceCell } from "./prices.ts";

/** One number of a model's price, before and after saving; "" means none, or the built-in price. */
export interface PriceChange {
  readonly cell: PriceCell;
  readonly before: string;
  readonly after: string;
  /** Both numbers for a comparison; undefined if one is missing. */
  readonly numbers: { readonly before: number; readonly after: number } | undefined;
}

type Known = Pick<OptionPrice, "price" | "built_in">;

/**
 * Returns the prices that will be charged: a model without a price of its own has the built-in one, and a price per
 * call takes precedence.
 */
function cellsAfter(cells: Cells, { built_in: builtIn }: Known): Cells {
  if (cells.call !== "") return { ...toPriceCells(null), call: cells.call };
  return cells.input === "" ? toPriceCells(builtIn) : cells;
}

/** Returns what saving changes in one price. */
export function listPriceChanges(known: Known, cells: Cells): PriceChange[] {
  const now = toPriceCells(known.price);
  const next = cellsAfter(cells, known);
  return PRICE_CELLS.flatMap((cell) => {
    const [before, after] = [now[cell], next[cell]];
    if (before === after || (before !== "" && after !== "" && Number(before) === Number(after))) return [];
    const numbers = before === "" || after === "" ? undefined : { before: Number(before), after: Number(after) };
    return [{ cell, before, after, numbers }];
  });
}
