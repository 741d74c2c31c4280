import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Outlet, useNavigate } from "react-router";
import { useKeys } from "../../lib/keys.ts";
import { isAdmin, useUser } from "../../session/session.ts";
import { useMayCreateTeam } from "../../session/teams.ts";
import { EmptyTeach } from "../../ui/feedback/empty.tsx";
import { FilterBar, FilterSelect, FilterText } from "../../ui/grid/filter-bar.tsx";
import { LIST_DEFAULTS, useList } from "../../ui/grid/use-list.ts";
import { AddLink, ListPage } from "../../ui/list/list-page.tsx";
import { teamsQuery } from "./api.ts";
import { teamColumns } from "./columns.tsx";
import { useTexts } from "./texts.ts";

const DEFAULTS = { ...LIST_DEFAULTS, q: "", mine: "" };

function Filters(props: { readonly list: ReturnType<typeof useList<typeof DEFAULTS>> }) {
  const t = useTexts();
  const { state, filter, isFiltered, clear } = props.list;
  const isOperator = isAdmin(useUser());
  return (
    <FilterBar
      main={<FilterText isMain label={t("search")} value={state.q} onChange={(q) => filter({ q })} />}
      isActive={isFiltered}
      onClear={clear}
    >
      {isOperator && (
        <FilterSelect
          label={t("whose")}
          value={state.mine}
          choices={[
            { value: "", label: t("everyTeam") },
            { value: "true", label: t("ownTeams") },
          ]}
          onChange={(mine) => filter({ mine })}
        />
      )}
    </FilterBar>
  );
}

/** The teams of the reader; for administrators, all teams. */
export function TeamsPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const list = useList(DEFAULTS);
  const { state, page, size } = list;
  const filter = { page, size, q: state.q, mine: state.mine === "true" };
  const { data, error, isFetching, refetch } = useQuery(teamsQuery(filter));
  const columns = useMemo(() => teamColumns(t), [t]);
  const mayCreate = useMayCreateTeam();
  useKeys("c", () => mayCreate && void navigate("/team/add"));
  const isEmpty = data?.rows.length === 0 && !list.isFiltered && page === 1;
  return (
    <ListPage
      title={t("title")}
      pageActions={mayCreate && <AddLink to="/team/add" label={t("add")} />}
      filters={!isEmpty && <Filters list={list} />}
      list={list}
      query={{ data, error, isFetching, refetch }}
      columns={columns}
      rowId={(team) => team.id}
      rowName={(team) => team.name}
      onOpen={(team) => void navigate(`/team/${team.id}`)}
      teach={
        <EmptyTeach icon="users" title={t("emptyTitle")} body={t(mayCreate ? "emptyBody" : "emptyMemberBody")}>
          {mayCreate && <AddLink to="/team/add" label={t("add")} />}
        </EmptyTeach>
      }
    >
      <Outlet />
    </ListPage>
  );
}
