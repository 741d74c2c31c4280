import { REDEMPTION_STATUS, type Redemption } from "@fairway/wire";
import { Flex } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState } from "react";
import { Link, Outlet, useLocation, useNavigate } from "react-router";
import { useKeys } from "../../lib/keys.ts";
import { useStore } from "../../lib/store.ts";
import { ask } from "../../ui/feedback/ask.ts";
import { CopyButton } from "../../ui/content/copy-button.tsx";
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
import { When } from "../../ui/display/when.tsx";
import { changeCode, deleteCode, redemptionsQuery, refresh, setCodeStatus } from "./api.ts";
import { createdCodes } from "./created.ts";
import { useTexts } from "./texts.ts";

const CreatedCodes = lazy(async () => ({ default: (await import("./created-codes.tsx")).CreatedCodes }));

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
    { id: "id", header: t("id"), align: "end", cell: (row) => row.id },
    {
      id: "name",
      header: t("name"),
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
      cell: (row) => (
        <span className="nowrap">
          <code className="mono">{`${row.key.slice(0, 4)}…${row.key.slice(-4)}`}</code>{" "}
          <CopyButton text={row.key} label={t("copyCode", { name: row.name })} />
        </span>
      ),
    },
    { id: "state", header: t("state"), cell: (row) => <StateCell row={row} /> },
    { id: "value", header: t("value"), align: "end", cell: (row) => <Money quota={row.quota} /> },
    { id: "created", header: t("created"), isMinor: true, cell: (row) => <When at={row.created_time} /> },
    {
      id: "used",
      header: t("usedBy"),
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
    <Flex justify="flex-end">
      <RowMenu name={name} entries={entries} />
    </Flex>
  );
}

export function RedemptionsPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const { search } = useLocation();
  const list = useList(DEFAULTS);
  const { state, page, size } = list;
  const { data, error, isFetching, refetch } = useQuery(
    redemptionsQuery({ page, size, sort: state.sort, q: state.q, status: state.status }),
  );
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  const hasCreated = useStore(createdCodes) !== undefined;
  const columns = useMemo(() => codeColumns(t), [t]);
  useKeys("c", () => void navigate({ pathname: "/redemption/add", search }));

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
      selection={{ ids: selected, change: setSelected }}
      isMuted={(row) => row.status !== REDEMPTION_STATUS.unused}
      actions={(row) => <CodeActions row={row} />}
      teach={
        <EmptyTeach icon="key" title={t("emptyTitle")} body={t("emptyBody")}>
          <AddLink to="/redemption/add" label={t("add")} />
        </EmptyTeach>
      }
    >
      <BulkSwitch
        rows={data?.rows ?? []}
        selected={selected}
        select={setSelected}
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
