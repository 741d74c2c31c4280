import { TOKEN_STATUS, type TeamToken } from "@fairway/wire";
import { Box, Button, Flex } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Version } from "../../../lib/rows.ts";
import { MoveKeyDialog } from "../../../shared/moving/move-key-dialog.tsx";
import { RotateForm } from "../../../shared/rotation/rotate-form.tsx";
import { useUser } from "../../../session/session.ts";
import { Icon } from "../../../ui/display/icon.tsx";
import { ask } from "../../../ui/feedback/ask.ts";
import { EmptyTeach, LoadFailed, NoMatch } from "../../../ui/feedback/empty.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { DataGrid } from "../../../ui/grid/data-grid.tsx";
import { FilterText } from "../../../ui/grid/filter-bar.tsx";
import { LIST_DEFAULTS, useList } from "../../../ui/grid/use-list.ts";
import type { MenuEntry } from "../../../ui/menu/menu.ts";
import { RowMenu } from "../../../ui/menu/row-menu.tsx";
import { refreshTeams } from "../api.ts";
import { useTexts } from "../texts.ts";
import { keyColumns } from "./key-columns.tsx";
import { KeyDialog } from "./key-dialog.tsx";
import { deleteKey, keysQuery, readKey, rotateKey, setKeyStatus } from "./keys-api.ts";
import type { PartProps } from "./part.ts";
import { ShownKey } from "./shown-key.tsx";

const DEFAULTS = { ...LIST_DEFAULTS, q: "" };

/** The dialog over the list. */
type Open =
  | { readonly kind: "add" }
  | { readonly kind: "edit"; readonly edited: Version<TeamToken> }
  | { readonly kind: "rotate"; readonly token: TeamToken }
  | { readonly kind: "move"; readonly token: TeamToken }
  | { readonly kind: "shown"; readonly token: TeamToken; readonly isNew: boolean };

interface MenuProps extends PartProps {
  readonly token: TeamToken;
  open(what: Open): void;
}

function useKeyActions({ team, open }: Pick<MenuProps, "team" | "open">) {
  const t = useTexts();
  const toggle = (token: TeamToken, isOn: boolean) =>
    void setKeyStatus(team.id, token, isOn).then(
      () => toast("success", t(isOn ? "keyEnabled" : "keyDisabled", { name: token.name })),
      toastProblem,
    );
  const remove = async (token: TeamToken) => {
    const { name } = token;
    const question = { title: t("deleteKeyTitle", { name }), body: t("deleteKeyBody"), confirm: t("deleteKey") };
    if (!(await ask({ ...question, isDangerous: true }))) return;
    await deleteKey(team.id, token).then(() => toast("success", t("keyDeleted", { name })), toastProblem);
  };
  const edit = (token: TeamToken) =>
    void readKey(team.id, token.id).then((edited) => open({ kind: "edit", edited }), toastProblem);
  return { toggle, remove, edit };
}

function KeyMenu(props: MenuProps) {
  const t = useTexts();
  const { token, rights, open } = props;
  const actions = useKeyActions(props);
  const isOwn = token.member === useUser()?.id && token.service_account === 0;
  const mayEdit = (isOwn || token.service_account > 0) && rights.makeKeys;
  const mayManage = mayEdit || rights.manageKeys;
  const isOn = token.status === TOKEN_STATUS.enabled;
  const entries: (MenuEntry | undefined | false)[] = [
    token.key !== "" && {
      id: "show",
      label: t("showKey"),
      icon: "eye",
      run: () => open({ kind: "shown", token, isNew: false }),
    },
    mayEdit && { id: "edit", label: t("edit"), icon: "edit", run: () => actions.edit(token) },
    mayManage && {
      id: "rotate",
      label: t("rotate"),
      icon: "refresh",
      run: () => open({ kind: "rotate", token }),
    },
    rights.own && {
      id: "move",
      label: t("moveKey"),
      icon: "users",
      run: () => open({ kind: "move", token }),
    },
    mayManage && {
      id: "toggle",
      label: t(isOn ? "disable" : "enable"),
      icon: isOn ? "pause" : "play",
      run: () => actions.toggle(token, !isOn),
    },
    mayManage && undefined,
    mayManage && {
      id: "delete",
      label: t("deleteKey"),
      icon: "trash",
      isDangerous: true,
      run: () => void actions.remove(token),
    },
  ];
  const shown = entries.filter((entry) => entry !== false);
  if (shown.length === 0) return null;
  return (
    <div className="row-actions">
      <RowMenu name={token.name} entries={shown} />
    </div>
  );
}

function Dialogs({ team, rights, open, set }: PartProps & { readonly open: Open; set(next?: Open): void }) {
  const t = useTexts();
  const close = () => set(undefined);
  const showNew = (token: TeamToken) => set({ kind: "shown", token, isNew: true });
  if (open.kind === "shown")
    return (
      <ShownKey
        title={open.isNew ? t("newKey") : t("keyOf", { name: open.token.name })}
        lead={t(open.isNew ? "newKeyLead" : "keyLead")}
        teamId={team.id}
        token={open.token}
        onClose={close}
      />
    );
  if (open.kind === "move")
    return <MoveKeyDialog token={open.token} teamId={team.id} onMoved={() => void refreshTeams()} onClose={close} />;
  if (open.kind === "rotate")
    return (
      <RotateForm
        name={open.token.name}
        rotate={(seconds) => rotateKey(team.id, open.token, seconds)}
        onRotated={({ key, hint }) => {
          if (key !== "") return showNew({ ...open.token, key });
          close();
          toast("success", t("rotatedHidden", { hint, name: open.token.member_name || open.token.name }));
        }}
        onClose={close}
      />
    );
  const edited = open.kind === "edit" ? { edited: open.edited } : {};
  return <KeyDialog team={team} rights={rights} {...edited} onCreated={showNew} onClose={close} />;
}

/** The keys of a team that the reader may see. */
export function Keys(props: PartProps) {
  const t = useTexts();
  const { team, rights } = props;
  const list = useList(DEFAULTS);
  const filter = { page: list.page, size: list.size, q: list.state.q };
  const { data, error, isFetching, refetch } = useQuery(keysQuery(team.id, filter));
  const [open, setOpen] = useState<Open>();
  const columns = useMemo(() => keyColumns(t), [t]);
  const add = rights.makeKeys && (
    <Button onClick={() => setOpen({ kind: "add" })}>
      <Icon name="plus" />
      {t("addKey")}
    </Button>
  );
  const isEmpty = data?.rows.length === 0 && !list.isFiltered && list.page === 1;
  return (
    <>
      {!isEmpty && (
        <Flex gap="2" wrap="wrap" align="flex-start" mb="3">
          <Box flex="1" minW="48">
            <FilterText isMain label={t("search")} value={list.state.q} onChange={(q) => list.filter({ q })} />
          </Box>
          {add}
        </Flex>
      )}
      {error && !data ? (
        <LoadFailed problem={error} onRetry={() => void refetch()} />
      ) : (
        <DataGrid
          label={t("keys")}
          columns={columns}
          rows={data?.rows}
          rowId={(token) => token.id}
          rowName={(token) => token.name}
          isFetching={isFetching}
          isMuted={(token) => token.status !== TOKEN_STATUS.enabled}
          pager={list.pager(data?.total)}
          actions={(token) => <KeyMenu {...props} token={token} open={setOpen} />}
          empty={
            list.isFiltered ? (
              <NoMatch onClear={list.clear} />
            ) : (
              <EmptyTeach icon="key" title={t("noKeys")} body={t(rights.makeKeys ? "firstKeyBody" : "noKeysBody")}>
                {add}
              </EmptyTeach>
            )
          }
        />
      )}
      {open && <Dialogs team={team} rights={rights} open={open} set={setOpen} />}
    </>
  );
}
