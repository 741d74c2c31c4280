import type { ReactNode } from "react";
import type { PagerProps } from "./pager.tsx";

export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  cell(row: Row): ReactNode;
  readonly align?: "end";
  /** Name of the server's sort key; absent where the server cannot sort. */
  readonly sort?: string;
  /** Left out on phones. */
  readonly isMinor?: boolean;
  /** The heading of the card on phones. */
  readonly isTitle?: boolean;
  /** Has what the other columns leave where the table is narrow, so that it fits; what is longer is cut. */
  readonly isElastic?: boolean;
}

export interface Selection {
  readonly ids: ReadonlySet<number>;
  change(ids: ReadonlySet<number>): void;
}

export interface GridProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[] | undefined;
  rowId(row: Row): number;
  /** How a row is called, for the labels of its controls. */
  rowName(row: Row): string;
  readonly isFetching: boolean;
  readonly pager: PagerProps;
  /** Shown in place of rows when there are none. */
  readonly empty: ReactNode;
  /** `-priority` is descending. */
  readonly sort?: string;
  onSort?(sort: string): void;
  readonly selection?: Selection;
  isMuted?(row: Row): boolean;
  actions?(row: Row): ReactNode;
  onOpen?(row: Row): void;
  /** Acts on the focused row, by key. */
  readonly keys?: Readonly<Record<string, (row: Row) => void>>;
  readonly opened?: number | undefined;
  detail?(row: Row): ReactNode;
  readonly density?: "comfortable" | "compact";
}
