import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useLocation, useNavigate } from "react-router";
import { useKeys } from "../../lib/keys.ts";
import { EmptyTeach } from "../feedback/empty.tsx";
import type { IconName } from "../display/icon.tsx";
import { FilterBar, FilterText } from "../grid/filter-bar.tsx";
import type { Column } from "../grid/grid-props.ts";
import { LIST_DEFAULTS, useList } from "../grid/use-list.ts";
import { AddLink, ListPage } from "./list-page.tsx";

const DEFAULTS = { ...LIST_DEFAULTS, q: "" };

interface Named {
  readonly id: number;
  readonly name: string;
}

interface SearchedListProps<Row extends Named> {
  /** The address of the list; its rows and its form are below it. */
  readonly path: string;
  readonly title: string;
  readonly notice: ReactNode;
  readonly addLabel: string;
  readonly searchLabel: string;
  /** All rows. */
  readonly query: Pick<UseQueryResult<Row[]>, "data" | "error" | "isFetching" | "refetch">;
  readonly columns: readonly Column<Row>[];
  /** Returns the text that the search reads. */
  readonly toSearched: (row: Row) => string;
  readonly isMuted: (row: Row) => boolean;
  readonly actions: (row: Row) => ReactNode;
  readonly empty: { readonly icon: IconName; readonly title: string; readonly body: string };
  readonly children?: ReactNode;
}

/** A list that the gateway sends whole: searched and paged here. */
export function SearchedList<Row extends Named>(props: SearchedListProps<Row>) {
  const { path, title, notice, addLabel, searchLabel, columns, toSearched, isMuted, actions, empty, children } = props;
  const navigate = useNavigate();
  const { search } = useLocation();
  const list = useList(DEFAULTS);
  const { state, page, size } = list;
  const { data, error, isFetching, refetch } = props.query;
  const part = state.q.toLowerCase();
  const found = data?.filter((row) => toSearched(row).toLowerCase().includes(part));
  const add = `${path}/add`;
  useKeys("c", () => void navigate({ pathname: add, search }));
  return (
    <ListPage
      title={title}
      pageActions={<AddLink to={add} label={addLabel} />}
      notice={notice}
      filters={
        data?.length !== 0 && (
          <FilterBar
            main={<FilterText isMain label={searchLabel} value={state.q} onChange={(q) => list.filter({ q })} />}
            isActive={list.isFiltered}
            onClear={list.clear}
          >
            {null}
          </FilterBar>
        )
      }
      list={list}
      query={{
        data: found && { rows: found.slice((page - 1) * size, page * size), total: found.length },
        error,
        isFetching,
        refetch,
      }}
      isEmpty={data?.length === 0}
      columns={columns}
      rowId={(row) => row.id}
      rowName={(row) => row.name}
      isMuted={isMuted}
      onOpen={(row) => void navigate(`${path}/${row.id}`)}
      keys={{ e: (row) => void navigate({ pathname: `${path}/edit/${row.id}`, search }) }}
      actions={actions}
      teach={
        <EmptyTeach {...empty}>
          <AddLink to={add} label={addLabel} />
        </EmptyTeach>
      }
    >
      {children}
    </ListPage>
  );
}
