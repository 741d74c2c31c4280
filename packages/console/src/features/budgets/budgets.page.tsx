import type { Budget } from "@fairway/wire";
import { Button, Flex } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, Outlet, useLocation, useNavigate } from "react-router";
import { useKeys } from "../../lib/keys.ts";
import { ask } from "../../ui/feedback/ask.ts";
import { DataGrid } from "../../ui/grid/data-grid.tsx";
import { EmptyTeach, LoadFailed, NoMatch } from "../../ui/feedback/empty.tsx";
import { FilterBar, FilterSelect, FilterText } from "../../ui/grid/filter-bar.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { Page } from "../../ui/display/page.tsx";
import { RowMenu } from "../../ui/menu/row-menu.tsx";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { LIST_DEFAULTS, useList } from "../../ui/grid/use-list.ts";
import { budgetsQuery, deleteBudget } from "./api.ts";
import { filterBudgets, SCOPES, type BudgetState } from "./budget-form.ts";
import { budgetColumns, SCOPE_TEXT, useSubjectName } from "./columns.tsx";
import { useTexts } from "./texts.ts";

const DEFAULTS = { ...LIST_DEFAULTS, q: "", scope: "", state: "" };
const STATES: readonly BudgetState[] = ["within", "near", "spent"];

function AddButton() {
  const t = useTexts();
  const { search } = useLocation();
  return (
    <Button asChild>
      <Link to={{ pathname: "/budget/add", search }}>
        <Icon name="plus" />
        {t("add")}
      </Link>
    </Button>
  );
}

function BudgetActions({ budget }: { readonly budget: Budget }) {
  const t = useTexts();
  const navigate = useNavigate();
  const { search } = useLocation();
  const name = `${t(SCOPE_TEXT[budget.scope])} ${useSubjectName(budget)}`;
  const remove = async () => {
    const question = { title: t("removeTitle", { name }), body: t("removeBody"), confirm: t("remove") };
    if (!(await ask({ ...question, isDangerous: true }))) return;
    await deleteBudget(budget.id).then(() => toast("success", t("removed", { name })), toastProblem);
  };
  return (
    <Flex justify="flex-end">
      <RowMenu
        name={name}
        entries={[
          {
            id: "edit",
            label: t("editRow"),
            icon: "edit",
            run: () => void navigate({ pathname: `/budget/edit/${budget.id}`, search }),
          },
          undefined,
          { id: "delete", label: t("remove"), icon: "trash", isDangerous: true, run: () => void remove() },
        ]}
      />
    </Flex>
  );
}

function Filters({ list }: { readonly list: ReturnType<typeof useList<typeof DEFAULTS>> }) {
  const t = useTexts();
  const { state, filter } = list;
  return (
    <FilterBar
      main={<FilterText isMain label={t("search")} value={state.q} onChange={(q) => filter({ q })} />}
      isActive={list.isFiltered}
      onClear={list.clear}
    >
      <FilterSelect
        label={t("scope")}
        value={state.scope}
        choices={[
          { value: "", label: t("anyScope") },
          ...SCOPES.map((value) => ({ value, label: t(SCOPE_TEXT[value]) })),
        ]}
        onChange={(scope) => filter({ scope })}
      />
      <FilterSelect
        label={t("state")}
        value={state.state}
        choices={[{ value: "", label: t("anyState") }, ...STATES.map((value) => ({ value, label: t(value) }))]}
        onChange={(value) => filter({ state: value })}
      />
    </FilterBar>
  );
}

export function BudgetsPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const { search } = useLocation();
  const list = useList(DEFAULTS);
  const { state, page, size } = list;
  const { data, error, isFetching, refetch } = useQuery(budgetsQuery);
  const found = useMemo(() => data && filterBudgets(data, state), [data, state]);
  const columns = useMemo(() => budgetColumns(t), [t]);
  const edit = (budget: Budget) => void navigate({ pathname: `/budget/edit/${budget.id}`, search });
  useKeys("c", () => void navigate({ pathname: "/budget/add", search }));
  return (
    <Page title={t("title")} actions={<AddButton />}>
      {data?.length !== 0 && <Filters list={list} />}
      {error && !data ? (
        <LoadFailed problem={error} onRetry={() => void refetch()} />
      ) : (
        <DataGrid
          label={t("title")}
          columns={columns}
          rows={found?.slice((page - 1) * size, page * size)}
          rowId={(budget) => budget.id}
          rowName={(budget) => budget.subject}
          isFetching={isFetching}
          pager={list.pager(found?.length)}
          onOpen={edit}
          keys={{ e: edit }}
          actions={(budget) => <BudgetActions budget={budget} />}
          empty={
            data?.length === 0 ? (
              <EmptyTeach icon="budget" title={t("emptyTitle")} body={t("emptyBody")}>
                <AddButton />
              </EmptyTeach>
            ) : (
              <NoMatch onClear={list.clear} />
            )
          }
        />
      )}
      <Outlet />
    </Page>
  );
}
