import { budgetSubject, type Budget } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useMemo } from "react";
import { Outlet, useLocation, useNavigate } from "react-router";
import { useKeys } from "../../lib/keys.ts";
import { budgetsQuery } from "../../shared/budgets/api.ts";
import { ask } from "../../ui/feedback/ask.ts";
import { EmptyTeach } from "../../ui/feedback/empty.tsx";
import { FilterBar, FilterSelect, FilterText } from "../../ui/grid/filter-bar.tsx";
import { RowMenu } from "../../ui/menu/row-menu.tsx";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { AddLink, ListPage } from "../../ui/list/list-page.tsx";
import { lateNeeded } from "../../ui/late/late.tsx";
import { useRowPeek } from "../../ui/peek/use-peek.ts";
import { LIST_DEFAULTS, useList } from "../../ui/grid/use-list.ts";
import { deleteBudget, resetBudget } from "./api.ts";
import { filterBudgets, SCOPES, type BudgetState } from "./budget-form.ts";
import { budgetColumns, SCOPE_TEXT } from "./columns.tsx";
import { useTexts } from "./texts.ts";

const BudgetPeek = lateNeeded(async () => (await import("./peek/budget-peek.tsx")).BudgetPeek);

const DEFAULTS = { ...LIST_DEFAULTS, q: "", scope: "", state: "" };
const STATES: readonly BudgetState[] = ["within", "near", "spent"];

function BudgetActions({ budget }: { readonly budget: Budget }) {
  const t = useTexts();
  const navigate = useNavigate();
  const { search } = useLocation();
  const name = `${t(SCOPE_TEXT[budget.scope])} ${budgetSubject(budget)}`;
  const remove = async () => {
    const question = { title: t("removeTitle", { name }), body: t("removeBody"), confirm: t("remove") };
    if (!(await ask({ ...question, isDangerous: true }))) return;
    await deleteBudget(budget.id).then(() => toast("success", t("removed", { name })), toastProblem);
  };
  const reset = async () => {
    const question = { title: t("resetTitle", { name }), body: t("resetBody"), confirm: t("reset") };
    if (!(await ask(question))) return;
    await resetBudget(budget.id).then(() => toast("success", t("wasReset", { name })), toastProblem);
  };
  return (
    <div className="row-actions">
      <RowMenu
        name={name}
        target={`budget ${budget.id}`}
        entries={[
          {
            id: "page",
            label: t("openPage"),
            icon: "chart",
            run: () => void navigate(`/budget/${budget.id}`),
          },
          {
            id: "edit",
            label: t("editRow"),
            icon: "edit",
            run: () => void navigate({ pathname: `/budget/edit/${budget.id}`, search }),
          },
          { id: "reset", label: t("reset"), icon: "refresh", run: () => void reset() },
          undefined,
          { id: "delete", label: t("remove"), icon: "trash", isDangerous: true, run: () => void remove() },
        ]}
      />
    </div>
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
  const rows = found?.slice((page - 1) * size, page * size);
  const peek = useRowPeek(rows);
  const edit = (budget: Budget) => void navigate({ pathname: `/budget/edit/${budget.id}`, search });
  useKeys("c", () => void navigate({ pathname: "/budget/add", search }));
  return (
    <ListPage
      title={t("title")}
      pageActions={<AddLink to="/budget/add" label={t("add")} />}
      filters={data?.length !== 0 && <Filters list={list} />}
      list={list}
      query={{
        data: found && { rows: rows ?? [], total: found.length },
        error,
        isFetching,
        refetch,
      }}
      isEmpty={data?.length === 0}
      columns={columns}
      rowId={(budget) => budget.id}
      rowName={budgetSubject}
      onOpen={peek.open}
      opened={peek.openedId}
      keys={{ e: edit }}
      actions={(budget) => <BudgetActions budget={budget} />}
      teach={
        <EmptyTeach icon="budget" title={t("emptyTitle")} body={t("emptyBody")}>
          <AddLink to="/budget/add" label={t("add")} />
        </EmptyTeach>
      }
    >
      <Suspense>{peek.key !== "" && <BudgetPeek peek={peek} />}</Suspense>
      <Outlet />
    </ListPage>
  );
}
