/** How a list was cut. */
export interface Cut {
  readonly isCut?: boolean;
  readonly total?: number | undefined;
  /** The requested page, if it is not the first. */
  readonly page?: number;
}

/** Returns whether there are more rows than these, before or after them. */
export function isPart(cut: Cut | undefined): boolean {
  return cut?.isCut === true || cut?.page !== undefined;
}

/** Prints rows as they arrive. */
export interface RowPrinter<Row> {
  add(row: Row): void;
  /** Closes a document of all rows; nothing needs to wait for it. */
  end(cut?: Cut): void;
}

/** Where rows are written, and how wide. */
export interface Paper {
  readonly width: number | undefined;
  readonly hasTitles: boolean;
  out(text: string): void;
  /** Writes text without a line end. */
  write(text: string): void;
}
