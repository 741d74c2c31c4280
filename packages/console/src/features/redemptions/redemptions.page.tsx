import { REDEMPTION_STATUS, type Redemption } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useMemo } from "react";
import { Link, Outlet, useLocation, useNavigate } from "react-router";
import { useKeys } from "../../lib/keys.ts";
import { queryClient } from "../../lib/query.ts";
import { useStore } from "../../lib/store.ts";
import { ask } from "../../ui/feedback/ask.ts";
import { SecretCell } from "../../ui/content/secret-cell.tsx";
import { BulkSwitch } from "../../ui/bulk/bulk-switch.tsx";
import type { Column } from "../../ui/grid/grid-props.ts";
import { EmptyTeach } from "../../ui/feedback/empty.tsx";
import { FilterBar, FilterSelect, FilterText } from "../../ui/grid/filter-bar.tsx";
import { Mark, type MarkKind } from "../../ui/display/mark.tsx";
import type { MenuEntry } from "../../ui/menu/menu.ts";
import { Money } from "../../ui/display/money.tsx";
import { RowMenu } from "../../ui/menu/row-menu.tsx";
import { toast, toastProblem, toastUndo } from "../../ui/feedback/toaster.ts";
import { AddLink, ListPage } from "../../ui/grid/list-page.tsx";
import { LIST_DEFAULTS, useList } from "../../ui/grid/use-list.ts";
import { useSelection } from "../../ui/grid/use-selection.ts";
import { When } from "../../ui/display/when.tsx";
import { changeCode, deleteCode, redemptionsQuery, refresh, setCodeStatus } from "./api.ts";
import { createdCodes } from "./created.ts";
import { useTexts } from "./texts.ts";
import { lateNeeded } from "../../ui/late/late.tsx";

const CreatedCodes = lateNeeded(async () => (await import("./created-codes.tsx")).CreatedCodes);

const DEFAULTS = { ...LIST_DEFAULTS, q: "", status: "" };

const STATES: Readonly<Record<number, { mark: MarkKind; text: "unused" | "used" | "disabled" }>> = {
  [REDEMPTION_STATUS.unused]: { mark: "go", text: "unused" },
  [REDEMPTION_STATUS.disabled]: { mark: "parked", text: "disabled" },
  [REDEMPTION_STATUS.used]: { mark: "unknown", text: "used" },
};

function StateCell({ row }: { readonly row: Redemption }) {
  const t = useTexts();
  const state = STATES[row.status] ?? { mark: "unknown" as const, text: "disabled" as const };
  return <Mark kind={state.mark} label={t(state.text)} />;
}

function codeColumns(t: ReturnType<typeof useTexts>): Column<Redemption>[] {
  return [
    { id: "id", header: t("id"), width: 56, rank: 5, align: "end", cell: (row) => row.id },
    {
      id: "name",
      header: t("name"),
      width: 180,
      isElastic: true,
      isTitle: true,
      cell: (row) => (
        <span className="cut">
          <bdi>{row.name}</bdi>
        </span>
      ),
    },
    {
      id: "code",
      header: t("code"),
      width: 180,
      cell: (row) => (
        <SecretCell
          text={row.key}
          masked={`${row.key.slice(0, 4)}…${row.key.slice(-4)}`}
          reveal={t("reveal", { name: row.name })}
          conceal={t("conceal", { name: row.name })}
          copy={t("copyCode", { name: row.name })}
        />
      ),
    },
    { id: "state", header: t("state"), width: 104, cell: (row) => <StateCell row={row} /> },
    { id: "value", header: t("value"), width: 96, rank: 0, align: "end", cell: (row) => <Money quota={row.quota} /> },
    { id: "created", header: t("created"), width: 110, isMinor: true, cell: (row) => <When at={row.created_time} /> },
    {
      id: "used",
      header: t("usedBy"),
      width: 90,
      isMinor: true,
      cell: (row) =>
        row.used_user_id > 0 ? (
          <Link className="link" to={`/user/edit/${row.used_user_id}`}>
            #{row.used_user_id}
          </Link>
        ) : (
          <span className="soft">–</span>
        ),
    },
  ];
}

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
    idOf: ({ id }) => id,
    read: (wanted, rows) => queryClient.fetchQuery(redemptionsQuery({ ...filter, page: wanted, size: rows })),
  });
  const hasCreated = useStore(createdCodes) !== undefined;
  const columns = useMemo(() => codeColumns(t), [t]);
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
      onOpen={edit}
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
      />
      <Suspense>{hasCreated && <CreatedCodes />}</Suspense>
      <Outlet />
    </ListPage>
  );
}
