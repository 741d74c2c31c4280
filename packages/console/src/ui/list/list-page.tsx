import { Button } from "@chakra-ui/react";
import type { ReactNode } from "react";
import { Link, useLocation } from "react-router";
import { useKeys } from "../../lib/keys.ts";
import type { Rows } from "../../lib/rows.ts";
import { Icon } from "../display/icon.tsx";
import { Page } from "../display/page.tsx";
import { LoadFailed, NoMatch } from "../feedback/empty.tsx";
import { DataGrid } from "../grid/data-grid.tsx";
import { GridCorner } from "../views/grid-corner.tsx";
import type { GridProps } from "../grid/grid-props.ts";
import type { PagerProps } from "../grid/pager.tsx";
import { useViews } from "../views/use-views.ts";
import { ViewTabs } from "../views/view-tabs.tsx";

type OwnGridProps = "label" | "rows" | "isFetching" | "pager" | "sort" | "onSort" | "empty" | "layout" | "corner";

interface ListPageProps<Row> extends Omit<GridProps<Row>, OwnGridProps> {
  readonly title: string;
  /** Shown next to the title, such as totals. */
  readonly aside?: ReactNode;
  readonly pageActions?: ReactNode;
  readonly notice?: ReactNode;
  readonly filters: ReactNode;
  /** The result of `useList`. */
  readonly list: {
    readonly state: { readonly sort: string };
    readonly isFiltered: boolean;
    clear(): void;
    sort(sort: string): void;
    pager(total: number | undefined): PagerProps;
  };
  /** The result of `useQuery`. */
  readonly query: {
    readonly data: Rows<Row> | undefined;
    readonly error: Error | null;
    readonly isFetching: boolean;
    refetch(): Promise<unknown>;
  };
  /** Shown if the list has no rows at all; without `isEmpty`, that means that no filter is set. */
  readonly teach: ReactNode;
  readonly isEmpty?: boolean;
  readonly gridClass?: string | undefined;
  /** Bulk actions, dialogs and the outlet of the drawers. */
  readonly children?: ReactNode;
}

/** The page of a resource: title, filters, and the table or the reason why there is none. */
export function ListPage<Row>(props: ListPageProps<Row>) {
  const { title, aside, pageActions, notice, filters, list, query, teach, isEmpty, gridClass, children, ...grid } =
    props;
  const { data, error, isFetching, refetch } = query;
  const views = useViews();
  const density = grid.density ?? "comfortable";
  const toggled = (views.layout.density ?? density) === "compact" ? "comfortable" : "compact";
  useKeys("shift+d", () => views.setLayout({ ...views.layout, density: toggled }));
  return (
    <Page title={title} aside={aside} actions={pageActions}>
      {notice}
      <ViewTabs views={views} />
      {filters}
      {error && !data ? (
        <LoadFailed problem={error} onRetry={() => void refetch()} />
      ) : (
        <div className={gridClass}>
          <DataGrid
            {...grid}
            label={title}
            // Columns that move after the rows have arrived would move the page.
            rows={views.isLoading ? undefined : data?.rows}
            layout={views.layout}
            corner={(shown) => <GridCorner columns={grid.columns} shown={shown} density={density} views={views} />}
            isFetching={isFetching}
            pager={list.pager(data?.total)}
            sort={list.state.sort}
            onSort={list.sort}
            empty={(isEmpty ?? !list.isFiltered) ? teach : <NoMatch onClear={list.clear} />}
          />
        </div>
      )}
      {children}
    </Page>
  );
}

/** Opens the create drawer above the list, whose filters stay in the address. */
export function AddLink(props: { readonly to: string; readonly label: string }) {
  const { search } = useLocation();
  return (
    <Button asChild>
      <Link to={{ pathname: props.to, search }}>
        <Icon name="plus" />
        {props.label}
      </Link>
    </Button>
  );
}
