import type { ReactNode } from "react";
import type { PagerProps } from "./pager.tsx";

export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  cell(row: Row): ReactNode;
  readonly align?: "end";
  /** Name of the server's sort key; absent if the server cannot sort. */
  readonly sort?: string;
  /** Hidden on phones. */
  readonly isMinor?: boolean;
  /** The heading of the card on phones. */
  readonly isTitle?: boolean;
  /** Takes the space that the other columns leave; long text wraps onto a second line. */
  readonly isElastic?: boolean;
  /** Width in pixels; it decides which columns fit. */
  readonly width?: number;
  /** If the table is too narrow, columns with the highest rank are hidden first; rank 0 always stays. */
  readonly rank?: number;
}

/** What identifies a row in its table. */
export type RowId = number | string;

export interface Selection {
  readonly ids: ReadonlySet<RowId>;
  change(ids: ReadonlySet<RowId>): void;
  /** Rows of other pages are selected too. */
  readonly isBeyondPage?: boolean;
  /** Selects all rows that match the filters; absent if there are no more than the page shows. */
  readonly everything?: { readonly count: number; readonly isLoading: boolean; select(): void };
}

export type Density = "comfortable" | "compact";

/** A user's changes to the columns of a table. */
export interface GridLayout {
  readonly hidden?: readonly string[] | undefined;
  /** Shown even if they do not fit. */
  readonly shown?: readonly string[] | undefined;
  readonly order?: readonly string[] | undefined;
  readonly density?: Density | undefined;
}

export interface GridProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[] | undefined;
  rowId(row: Row): RowId;
  /** Returns the name of a row, for the labels of its controls. */
  rowName(row: Row): string;
  readonly isFetching: boolean;
  readonly pager: PagerProps;
  /** Replaces the rows if there are none. */
  readonly empty: ReactNode;
  /** `-priority` is descending. */
  readonly sort?: string;
  onSort?(sort: string): void;
  readonly selection?: Selection;
  isMuted?(row: Row): boolean;
  actions?(row: Row): ReactNode;
  /** Opens a row, on Enter or a click. */
  onOpen?(row: Row): void;
  /** Actions on the focused row, by key. */
  readonly keys?: Readonly<Record<string, (row: Row) => void>>;
  readonly opened?: RowId | undefined;
  detail?(row: Row): ReactNode;
  readonly density?: Density;
  readonly layout?: GridLayout;
  /** The last cell of the head: the column menu. */
  corner?(shown: ReadonlySet<string>): ReactNode;
}
