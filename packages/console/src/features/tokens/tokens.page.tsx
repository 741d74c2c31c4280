import { isKeyText, TOKEN_STATUS, type Status, type Token } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useMemo, useState } from "react";
import { Outlet, useLocation, useNavigate } from "react-router";
import { useKeys } from "../../lib/keys.ts";
import { queryClient } from "../../lib/query.ts";
import { getRole, useUser } from "../../session/session.ts";
import { useStatus } from "../../session/status.ts";
import { useHasTeams, useOwnTeams } from "../../session/teams.ts";
import { useNow } from "../../lib/now.ts";
import { useStore } from "../../lib/store.ts";
import { ask } from "../../ui/feedback/ask.ts";
import { BulkSwitch } from "../../ui/bulk/bulk-switch.tsx";
import { EmptyTeach } from "../../ui/feedback/empty.tsx";
import { FilterBar, FilterSelect, FilterText } from "../../ui/grid/filter-bar.tsx";
import { NoticeBar } from "../../ui/feedback/notice-bar.tsx";
import type { MenuEntry } from "../../ui/menu/menu.ts";
import { RowMenu } from "../../ui/menu/row-menu.tsx";
import { toast, toastProblem, toastUndo } from "../../ui/feedback/toaster.ts";
import { AddLink, ListPage } from "../../ui/list/list-page.tsx";
import { LIST_DEFAULTS, useList } from "../../ui/grid/use-list.ts";
import { useSelection } from "../../ui/grid/use-selection.ts";
import { changeToken, deleteToken, groupsQuery, refresh, setTokenStatus, tokensQuery } from "./api.ts";
import { ChangeTokens } from "./bulk/change-tokens.tsx";
import { chatClients } from "./chat-clients.ts";
import { tokenColumns } from "./columns.tsx";
import { createdTokens } from "./created.ts";
import { isOwnersToSwitch, resolveTokenStatus } from "../../shared/tokens/state.ts";
import { logAddress } from "../../shared/usage/log-link.ts";
import { useTexts } from "./texts.ts";
import { lateNeeded, lateOverlay } from "../../ui/late/late.tsx";
import { useRowPeek } from "../../ui/peek/use-peek.ts";

const ConnectDialog = lateOverlay(async () => (await import("./connect.tsx")).ConnectDialog);
const CreatedDialog = lateNeeded(async () => (await import("./connect.tsx")).CreatedDialog);

const MoveKeyDialog = lateOverlay(async () => (await import("../../shared/moving/move-key-dialog.tsx")).MoveKeyDialog);
const RotateDialog = lateOverlay(async () => (await import("./rotate-dialog.tsx")).RotateDialog);

const TokenPeek = lateNeeded(async () => (await import("./peek/token-peek.tsx")).TokenPeek);

const DEFAULTS = { ...LIST_DEFAULTS, q: "", key: "", status: "", group: "" };

function useTokenActions() {
  const t = useTexts();
  const setStatus = (token: Token, isOn: boolean) => {
    setTokenStatus(token, isOn).then(
      () =>
        toastUndo(
          t(isOn ? "isEnabled" : "isDisabled", { name: token.name }),
          () => void setTokenStatus(token, !isOn).catch(toastProblem),
        ),
      toastProblem,
    );
  };
  const remove = async (token: Token) => {
    const isConfirmed = await ask({
      title: t("removeTitle", { name: token.name }),
      body: t("removeBody"),
      confirm: t("remove"),
      isDangerous: true,
    });
    if (!isConfirmed) return;
    await deleteToken(token).then(() => toast("success", t("removed", { name: token.name })), toastProblem);
  };
  return { setStatus, remove };
}

/** Returns the clients that open with the token, or one entry that explains why there are none. */
function chatEntries(t: ReturnType<typeof useTexts>, status: Status, token: Token): MenuEntry[] {
  const clients = chatClients(status, token);
  if (clients.length === 0) {
    return [{ id: "chat", label: t("chat"), icon: "chat", run: () => toast("error", t("noChatLink")) }];
  }
  return clients.map(({ name, address }) => ({
    id: `chat-${name}`,
    label: t("chatWith", { name }),
    icon: "external",
    run: () => void open(address, "_blank", "noopener,noreferrer"),
  }));
}

interface TokenActionsProps {
  readonly token: Token;
  onConnect(): void;
  onRotate(): void;
  onMove(): void;
}

function TokenActions(props: TokenActionsProps) {
  const t = useTexts();
  const navigate = useNavigate();
  const { search } = useLocation();
  const { setStatus, remove } = useTokenActions();
  const { token } = props;
  const isOn = token.status === TOKEN_STATUS.enabled;
  const role = getRole(useUser());
  const isInTeams = (useOwnTeams({ isNeeded: useHasTeams() })?.length ?? 0) > 0;
  const toggle: MenuEntry = {
    id: "toggle",
    label: t(isOn ? "disable" : "enable"),
    icon: isOn ? "pause" : "play",
    run: () => setStatus(token, !isOn),
  };
  const entries: (MenuEntry | undefined)[] = [
    { id: "page", label: t("openPage"), icon: "chart", run: () => void navigate(`/token/${token.id}`) },
    {
      id: "edit",
      label: t("editRow"),
      icon: "edit",
      run: () => void navigate({ pathname: `/token/edit/${token.id}`, search }),
    },
    ...(isOwnersToSwitch(token, role) ? [toggle] : []),
    { id: "rotate", label: t("rotateMenu"), icon: "refresh", run: props.onRotate },
    ...(isInTeams ? [{ id: "move", label: t("moveMenu"), icon: "users", run: props.onMove } as const] : []),
    {
      id: "log",
      label: t("openLog"),
      icon: "log",
      run: () => void navigate(logAddress({ tokenId: String(token.id) })),
    },
    undefined,
    ...chatEntries(t, useStatus(), token),
    undefined,
    { id: "delete", label: t("remove"), icon: "trash", isDangerous: true, run: () => void remove(token) },
  ];
  return (
    <div className="row-actions">
      <button type="button" className="row-button is-outlined token-connect" onClick={props.onConnect}>
        {t("connect")}
      </button>
      <RowMenu name={token.name} entries={entries} target={`token ${token.id}`} />
    </div>
  );
}

function Filters(props: { readonly list: ReturnType<typeof useList<typeof DEFAULTS>> }) {
  const t = useTexts();
  const { state, isFiltered, clear } = props.list;
  const navigate = useNavigate();
  /** Filters the list; a whole key opens the page of its token, because filters stand in the address. */
  const filter = (change: Partial<typeof DEFAULTS>) => {
    const text = change.q ?? change.key ?? "";
    if (!isKeyText(text)) return props.list.filter(change);
    void import("./find-key.ts").then(({ openTokenOfKey }) =>
      openTokenOfKey(text, (address) => void navigate(address)),
    );
  };
  const groups = Object.keys(useQuery(groupsQuery).data ?? {});
  const statuses = [
    { value: "", label: t("anyStatus") },
    { value: String(TOKEN_STATUS.enabled), label: t("enabled") },
    { value: String(TOKEN_STATUS.disabled), label: t("disabled") },
    { value: String(TOKEN_STATUS.expired), label: t("expired") },
    { value: String(TOKEN_STATUS.exhausted), label: t("exhausted") },
  ];
  return (
    <FilterBar
      main={<FilterText isMain label={t("searchName")} value={state.q} onChange={(q) => filter({ q })} />}
      isActive={isFiltered}
      onClear={clear}
    >
      <FilterText label={t("searchKey")} value={state.key} onChange={(key) => filter({ key })} />
      <FilterSelect
        label={t("status")}
        value={state.status}
        choices={statuses}
        onChange={(status) => filter({ status })}
      />
      {groups.length > 1 && (
        <FilterSelect
          label={t("group")}
          value={state.group}
          choices={[{ value: "", label: t("anyGroup") }, ...groups.map((name) => ({ value: name, label: name }))]}
          onChange={(group) => filter({ group })}
        />
      )}
    </FilterBar>
  );
}

export function TokensPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const list = useList(DEFAULTS);
  const { state, page, size } = list;
  const { sort, q, key, status, group } = state;
  const filter = { sort, q, key, status, group };
  const { data, error, isFetching, refetch } = useQuery(tokensQuery({ ...filter, page, size }));
  const { selection, chosen, select } = useSelection({
    rows: data?.rows,
    total: data?.total,
    filter: list.filterKey,
    getRowId: ({ id }) => id,
    read: (wanted, rows) => queryClient.fetchQuery(tokensQuery({ ...filter, page: wanted, size: rows })),
  });
  const now = useNow();
  const hasCreated = useStore(createdTokens).length > 0;
  const [connected, setConnected] = useState<Token>();
  const [rotating, setRotating] = useState<Token>();
  const [moving, setMoving] = useState<Token>();
  const columns = useMemo(() => tokenColumns(t), [t]);
  const peek = useRowPeek(data?.rows);
  const search = useLocation().search;
  useKeys("c", () => void navigate({ pathname: "/token/add", search }));
  const edit = (token: Token) => void navigate({ pathname: `/token/edit/${token.id}`, search });
  const isEmpty = data?.rows.length === 0 && !list.isFiltered && page === 1;

  return (
    <ListPage
      title={t("title")}
      pageActions={<AddLink to="/token/add" label={t("add")} />}
      notice={
        <NoticeBar icon="warning" hue="cardinal" dismiss={{ id: "token-warning", label: t("dismiss") }}>
          {t("warning")}
        </NoticeBar>
      }
      filters={!isEmpty && <Filters list={list} />}
      list={list}
      query={{ data, error, isFetching, refetch }}
      columns={columns}
      rowId={(token) => token.id}
      rowName={(token) => token.name}
      selection={selection}
      isMuted={(token) => resolveTokenStatus(token, now) !== TOKEN_STATUS.enabled}
      onOpen={peek.open}
      opened={peek.openedId}
      keys={{ e: edit }}
      actions={(token) => (
        <TokenActions
          token={token}
          onConnect={() => setConnected(token)}
          onRotate={() => setRotating(token)}
          onMove={() => setMoving(token)}
        />
      )}
      teach={
        <EmptyTeach icon="key" title={t("emptyTitle")} body={t("emptyBody")}>
          <AddLink to="/token/add" label={t("add")} />
        </EmptyTeach>
      }
    >
      <BulkSwitch
        chosen={chosen}
        select={select}
        t={t}
        tell={(word, count) => t(word, { count })}
        line={({ name, key }) => `${name}    sk-${key}`}
        change={changeToken}
        refresh={refresh}
        more={(bulk) => <ChangeTokens chosen={chosen} bulk={bulk} />}
      />
      <Suspense>
        {peek.key !== "" && <TokenPeek peek={peek} />}
        {connected && <ConnectDialog token={connected} onClose={() => setConnected(undefined)} />}
        {moving && (
          <MoveKeyDialog
            token={moving}
            teamId={0}
            onMoved={() => void refresh()}
            onClose={() => setMoving(undefined)}
          />
        )}
        {rotating && <RotateDialog token={rotating} onClose={() => setRotating(undefined)} />}
        {hasCreated && <CreatedDialog />}
      </Suspense>
      <Outlet />
    </ListPage>
  );
}
