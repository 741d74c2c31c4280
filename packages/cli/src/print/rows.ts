/** How a list was cut. */
export interface Cut {
  readonly isCut?: boolean;
  readonly total?: number | undefined;
  /** The page that was asked for, where it is not the first. */
  readonly page?: number;
}

/** Whether there are more rows than these, before or behind them. */
export function isPart(cut: Cut | undefined): boolean {
  return cut?.isCut === true || cut?.page !== undefined;
}

/** Rows that are printed as they come. */
export interface RowPrinter<Row> {
  add(row: Row): void;
  /** Closes a document of all rows; nothing else waits for it. */
  end(cut?: Cut): void;
}

/** Where rows are written, and how wide. */
export interface Paper {
  readonly width: number | undefined;
  readonly hasTitles: boolean;
  out(text: string): void;
}
