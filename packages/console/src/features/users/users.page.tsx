import { ROLE, USER_STATUS, type User, type UserAction } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useMemo, useState } from "react";
import { Outlet, useLocation, useNavigate } from "react-router";
import { useUser } from "../../session/session.ts";
import { useKeys } from "../../lib/keys.ts";
import { queryClient } from "../../lib/query.ts";
import { ask } from "../../ui/feedback/ask.ts";
import { EmptyTeach } from "../../ui/feedback/empty.tsx";
import { FilterBar, FilterSelect, FilterText } from "../../ui/grid/filter-bar.tsx";
import type { MenuEntry } from "../../ui/menu/menu.ts";
import { RowMenu } from "../../ui/menu/row-menu.tsx";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { AddLink, ListPage } from "../../ui/list/list-page.tsx";
import { LIST_DEFAULTS, useList } from "../../ui/grid/use-list.ts";
import { useSelection } from "../../ui/grid/use-selection.ts";
import { lateNeeded, lateOverlay } from "../../ui/late/late.tsx";
import { useRowPeek } from "../../ui/peek/use-peek.ts";
import { groupsQuery } from "../../session/groups.ts";
import { manageUser, resetSecondFactor, usersQuery } from "./api.ts";
import { isDeleted, isOpenTo } from "./access.ts";
import { BulkActions } from "./bulk/bulk-actions.tsx";
import { roleText, userColumns } from "./columns.tsx";
import { useTexts } from "./texts.ts";

const UserPeek = lateNeeded(async () => (await import("./peek/user-peek.tsx")).UserPeek);

const ConvertDialog = lateOverlay(async () => (await import("./convert-dialog.tsx")).ConvertDialog);

const DEFAULTS = { ...LIST_DEFAULTS, q: "", group: "", role: "", status: "" };

function useManage() {
  const t = useTexts();
  const manage = (user: User, action: UserAction) =>
    void manageUser(user, action).then(() => toast("success", t("done", { name: user.username })), toastProblem);
  const asked = async (user: User, action: UserAction, question: Parameters<typeof ask>[0]) => {
    if (await ask(question)) manage(user, action);
  };
  const resetFactor = async (user: User) => {
    const name = user.username;
    const question = { title: t("resetFactorTitle", { name }), body: t("resetFactorBody"), confirm: t("resetFactor") };
    if (!(await ask({ ...question, isDangerous: true }))) return;
    await resetSecondFactor(user).then(() => toast("success", t("done", { name })), toastProblem);
  };
  return { manage, asked, resetFactor };
}

function UserActions({ user }: { readonly user: User }) {
  const t = useTexts();
  const navigate = useNavigate();
  const { search } = useLocation();
  const own = useUser();
  const { manage, asked, resetFactor } = useManage();
  const [isConverting, setConverting] = useState(false);
  const name = user.username;
  if (!isOpenTo(own, user)) return null;
  const isBelow = user.role < (own?.role ?? ROLE.guest);
  const edit: MenuEntry = {
    id: "edit",
    label: t("editRow"),
    icon: "edit",
    run: () => void navigate({ pathname: `/user/edit/${user.id}`, search }),
  };
  const usage: MenuEntry = {
    id: "page",
    label: t("openPage"),
    icon: "chart",
    run: () => void navigate(`/user/${user.id}`),
  };
  const log: MenuEntry = {
    id: "log",
    label: t("openLog"),
    icon: "log",
    run: () => void navigate(`/log?user=${encodeURIComponent(name)}`),
  };
  const budgets: MenuEntry = {
    id: "budgets",
    label: t("openBudgets"),
    icon: "budget",
    run: () => void navigate(`/budget?scope=user&q=${user.id}`),
  };
  const isOn = user.status === USER_STATUS.enabled;
  const toggle: MenuEntry = {
    id: "toggle",
    label: t(isOn ? "disable" : "enable"),
    icon: isOn ? "pause" : "play",
    run: () => manage(user, isOn ? "disable" : "enable"),
  };
  if (!isBelow) return <RowMenu name={name} entries={[usage, edit, log, budgets]} target={`user ${user.id}`} />;
  const isAdmin = user.role >= ROLE.admin;
  // Prevents an accidental change of a status that this release does not know.
  const isKnown = isOn || user.status === USER_STATUS.disabled;
  const rank = isAdmin ? "demote" : "promote";
  const entries: (MenuEntry | undefined)[] = [
    usage,
    edit,
    log,
    budgets,
    ...(isKnown ? [toggle] : []),
    {
      id: "rank",
      label: t(rank),
      icon: isAdmin ? "down" : "up",
      run: () =>
        void asked(user, rank, {
          title: t(isAdmin ? "demoteTitle" : "promoteTitle", { name }),
          body: t(isAdmin ? "demoteBody" : "promoteBody"),
          confirm: t(rank),
        }),
    },
    { id: "factor", label: t("resetFactor"), icon: "key", run: () => void resetFactor(user) },
    ...(own?.role === ROLE.root && !isAdmin
      ? [{ id: "convert", label: t("convertEntry"), icon: "users", run: () => setConverting(true) } as const]
      : []),
    undefined,
    {
      id: "delete",
      label: t("remove"),
      icon: "trash",
      isDangerous: true,
      run: () =>
        void asked(user, "delete", {
          title: t("removeTitle", { name }),
          body: t("removeBody"),
          confirm: t("remove"),
          isDangerous: true,
        }),
    },
  ];
  return (
    <>
      <RowMenu name={name} entries={entries} target={`user ${user.id}`} />
      {isConverting && (
        <Suspense>
          <ConvertDialog user={user} onClose={() => setConverting(false)} />
        </Suspense>
      )}
    </>
  );
}

function Filters(props: { readonly list: ReturnType<typeof useList<typeof DEFAULTS>> }) {
  const t = useTexts();
  const { state, filter, isFiltered, clear } = props.list;
  const groups = useQuery(groupsQuery).data ?? [];
  const roles = [ROLE.user, ROLE.admin, ROLE.root].map((role) => ({ value: String(role), label: t(roleText(role)) }));
  const statuses = [
    { value: "", label: t("anyStatus") },
    { value: String(USER_STATUS.enabled), label: t("activated") },
    { value: String(USER_STATUS.disabled), label: t("banned") },
  ];
  return (
    <FilterBar
      main={<FilterText isMain label={t("search")} value={state.q} onChange={(q) => filter({ q })} />}
      isActive={isFiltered}
      onClear={clear}
    >
      <FilterSelect
        label={t("group")}
        value={state.group}
        choices={[{ value: "", label: t("anyGroup") }, ...groups.map((name) => ({ value: name, label: name }))]}
        onChange={(group) => filter({ group })}
      />
      <FilterSelect
        label={t("role")}
        value={state.role}
        choices={[{ value: "", label: t("anyRole") }, ...roles]}
        onChange={(role) => filter({ role })}
      />
      <FilterSelect
        label={t("status")}
        value={state.status}
        choices={statuses}
        onChange={(status) => filter({ status })}
      />
    </FilterBar>
  );
}

export function UsersPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const { search } = useLocation();
  const list = useList(DEFAULTS);
  const { state, page, size } = list;
  const { sort, q, group, role, status } = state;
  const filter = { sort, q, group, role, status };
  const { data, error, isFetching, refetch } = useQuery(usersQuery({ ...filter, page, size }));
  const { selection, chosen, select } = useSelection({
    rows: data?.rows,
    total: data?.total,
    filter: list.filterKey,
    getRowId: ({ id }) => id,
    read: (wanted, rows) => queryClient.fetchQuery(usersQuery({ ...filter, page: wanted, size: rows })),
  });
  const columns = useMemo(() => userColumns(t), [t]);
  const peek = useRowPeek(data?.rows);
  useKeys("c", () => void navigate({ pathname: "/user/add", search }));
  const own = useUser();
  const edit = (user: User) => {
    if (isOpenTo(own, user)) void navigate({ pathname: `/user/edit/${user.id}`, search });
  };
  return (
    <ListPage
      title={t("title")}
      pageActions={<AddLink to="/user/add" label={t("add")} />}
      filters={<Filters list={list} />}
      list={list}
      query={{ data, error, isFetching, refetch }}
      columns={columns}
      rowId={(user) => user.id}
      rowName={(user) => user.username}
      selection={selection}
      isMuted={(user) => isDeleted(user) || user.status !== USER_STATUS.enabled}
      onOpen={peek.open}
      opened={peek.openedId}
      keys={{ e: edit }}
      actions={(user) => (
        <div className="row-actions">
          <UserActions user={user} />
        </div>
      )}
      teach={
        <EmptyTeach icon="users" title={t("emptyTitle")} body={t("emptyBody")}>
          <AddLink to="/user/add" label={t("add")} />
        </EmptyTeach>
      }
    >
      <BulkActions chosen={chosen} select={select} />
      <Suspense>{peek.key !== "" && <UserPeek peek={peek} />}</Suspense>
      <Outlet />
    </ListPage>
  );
}
