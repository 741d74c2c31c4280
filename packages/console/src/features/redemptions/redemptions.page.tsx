import { REDEMPTION_STATUS, type Redemption } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useMemo } from "react";
import { Outlet, useLocation, useNavigate } from "react-router";
import { useKeys } from "../../lib/keys.ts";
import { queryClient } from "../../lib/query.ts";
import { useStore } from "../../lib/store.ts";
import { ask } from "../../ui/feedback/ask.ts";
import { BulkSwitch } from "../../ui/bulk/bulk-switch.tsx";
import { EmptyTeach } from "../../ui/feedback/empty.tsx";
import { FilterBar, FilterSelect, FilterText } from "../../ui/grid/filter-bar.tsx";
import type { MenuEntry } from "../../ui/menu/menu.ts";
import { RowMenu } from "../../ui/menu/row-menu.tsx";
import { toast, toastProblem, toastUndo } from "../../ui/feedback/toaster.ts";
import { AddLink, ListPage } from "../../ui/list/list-page.tsx";
import { LIST_DEFAULTS, useList } from "../../ui/grid/use-list.ts";
import { useSelection } from "../../ui/grid/use-selection.ts";
import { changeCode, deleteCode, redemptionsQuery, refresh, setCodeStatus } from "./api.ts";
import { ChangeCodes } from "./bulk/change-codes.tsx";
import { codeColumns, STATES } from "./columns.tsx";
import { createdCodes } from "./created.ts";
import { useTexts } from "./texts.ts";
import { lateNeeded } from "../../ui/late/late.tsx";
import { useRowPeek } from "../../ui/peek/use-peek.ts";

const CreatedCodes = lateNeeded(async () => (await import("./created-codes.tsx")).CreatedCodes);

const CodePeek = lateNeeded(async () => (await import("./peek/code-peek.tsx")).CodePeek);

const DEFAULTS = { ...LIST_DEFAULTS, q: "", status: "" };

function CodeActions({ row }: { readonly row: Redemption }) {
  const t = useTexts();
  const navigate = useNavigate();
  const { search } = useLocation();
  const { name } = row;
  const isUnused = row.status === REDEMPTION_STATUS.unused;
  const isUsed = row.status === REDEMPTION_STATUS.used;
  const setStatus = (isOn: boolean) =>
    void setCodeStatus(row, isOn).then(
      () =>
        toastUndo(
          t(isOn ? "isEnabled" : "isDisabled", { name }),
          () => void setCodeStatus(row, !isOn).catch(toastProblem),
        ),
      toastProblem,
    );
  const remove = async () => {
    const question = {
      title: t("removeTitle", { name }),
      body: t("removeBody"),
      confirm: t("remove"),
      isDangerous: true,
    };
    if (!(await ask(question))) return;
    await deleteCode(row).then(() => toast("success", t("removed", { name })), toastProblem);
  };
  const edit: MenuEntry = {
    id: "edit",
    label: t("editRow"),
    icon: "edit",
    run: () => void navigate({ pathname: `/redemption/edit/${row.id}`, search }),
  };
  const toggle: MenuEntry = {
    id: "toggle",
    label: t(isUnused ? "disable" : "enable"),
    icon: isUnused ? "pause" : "play",
    run: () => setStatus(!isUnused),
  };
  const entries: (MenuEntry | undefined)[] = [
    ...(isUnused ? [edit] : []),
    ...(isUsed ? [] : [toggle, undefined]),
    { id: "delete", label: t("remove"), icon: "trash", isDangerous: true, run: () => void remove() },
  ];
  return (
    <div className="row-actions">
      <RowMenu name={name} entries={entries} />
    </div>
  );
}

export function RedemptionsPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const { search } = useLocation();
  const list = useList(DEFAULTS);
  const { state, page, size } = list;
  const { sort, q, status } = list.state;
  const filter = { sort, q, status };
  const { data, error, isFetching, refetch } = useQuery(redemptionsQuery({ ...filter, page, size }));
  const { selection, chosen, select } = useSelection({
    rows: data?.rows,
    total: data?.total,
    filter: list.filterKey,
    getRowId: ({ id }) => id,
    read: (wanted, rows) => queryClient.fetchQuery(redemptionsQuery({ ...filter, page: wanted, size: rows })),
  });
  const hasCreated = useStore(createdCodes) !== undefined;
  const columns = useMemo(() => codeColumns(t), [t]);
  const peek = useRowPeek(data?.rows);
  useKeys("c", () => void navigate({ pathname: "/redemption/add", search }));
  const edit = ({ id, status: state }: Redemption) => {
    if (state === REDEMPTION_STATUS.unused) void navigate({ pathname: `/redemption/edit/${id}`, search });
  };

  return (
    <ListPage
      title={t("title")}
      pageActions={<AddLink to="/redemption/add" label={t("add")} />}
      filters={
        <FilterBar
          main={<FilterText isMain label={t("search")} value={state.q} onChange={(q) => list.filter({ q })} />}
          isActive={list.isFiltered}
          onClear={list.clear}
        >
          <FilterSelect
            label={t("status")}
            value={state.status}
            choices={[
              { value: "", label: t("anyStatus") },
              ...Object.entries(STATES).map(([value, { text }]) => ({ value, label: t(text) })),
            ]}
            onChange={(status) => list.filter({ status })}
          />
        </FilterBar>
      }
      list={list}
      query={{ data, error, isFetching, refetch }}
      columns={columns}
      rowId={(row) => row.id}
      rowName={(row) => row.name}
      selection={selection}
      isMuted={(row) => row.status !== REDEMPTION_STATUS.unused}
      onOpen={peek.open}
      opened={peek.openedId}
      keys={{ e: edit }}
      actions={(row) => <CodeActions row={row} />}
      teach={
        <EmptyTeach icon="ticket" title={t("emptyTitle")} body={t("emptyBody")}>
          <AddLink to="/redemption/add" label={t("add")} />
        </EmptyTeach>
      }
    >
      <BulkSwitch
        chosen={chosen}
        select={select}
        t={t}
        tell={(word, count) => t(word, { count })}
        line={({ key }) => key}
        change={changeCode}
        refresh={refresh}
        more={(bulk) => <ChangeCodes chosen={chosen} bulk={bulk} />}
      />
      <Suspense>
        {peek.key !== "" && <CodePeek peek={peek} />}
        {hasCreated && <CreatedCodes />}
      </Suspense>
      <Outlet />
    </ListPage>
  );
}
