import { TEAM_ROLES, USER_STATUS, type TeamMember, type TeamRole } from "@fairway/wire";
import { Box, Button, Flex, Stack } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useUser } from "../../../session/session.ts";
import { Icon } from "../../../ui/display/icon.tsx";
import { Mark } from "../../../ui/display/mark.tsx";
import { When } from "../../../ui/display/when.tsx";
import { ask } from "../../../ui/feedback/ask.ts";
import { LoadFailed, NoMatch } from "../../../ui/feedback/empty.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { DataGrid } from "../../../ui/grid/data-grid.tsx";
import { FilterText } from "../../../ui/grid/filter-bar.tsx";
import type { Column } from "../../../ui/grid/grid-props.ts";
import { LIST_DEFAULTS, useList } from "../../../ui/grid/use-list.ts";
import type { MenuEntry } from "../../../ui/menu/menu.ts";
import { RowMenu } from "../../../ui/menu/row-menu.tsx";
import { useTexts } from "../texts.ts";
import { roleText } from "../words.ts";
import { AddMemberDialog } from "./add-member-dialog.tsx";
import { Invitations } from "./invitations.tsx";
import { InviteDialog } from "./invite-dialog.tsx";
import { changeMemberRole, membersQuery, removeMember } from "./members-api.ts";
import type { PartProps } from "./part.ts";
import { ServiceAccounts } from "./service-accounts.tsx";

const DEFAULTS = { ...LIST_DEFAULTS, q: "" };

function memberColumns(t: ReturnType<typeof useTexts>): Column<TeamMember>[] {
  return [
    {
      id: "name",
      header: t("member"),
      width: 200,
      isElastic: true,
      isTitle: true,
      cell: ({ username, display_name: shown }) => (
        <span className="cut">
          <bdi>{username}</bdi>
          {shown !== "" && shown !== username && (
            <span className="soft">
              {" "}
              <bdi>{shown}</bdi>
            </span>
          )}
        </span>
      ),
    },
    { id: "role", header: t("role"), width: 110, rank: 0, cell: ({ role }) => roleText(t, role) },
    {
      id: "state",
      header: t("account"),
      width: 110,
      rank: 2,
      cell: ({ status }) => (
        <Mark
          kind={status === USER_STATUS.enabled ? "go" : "stop"}
          label={t(status === USER_STATUS.enabled ? "accountOn" : "accountOff")}
        />
      ),
    },
    { id: "since", header: t("since"), width: 120, rank: 1, cell: ({ created_at: at }) => <When at={at} /> },
  ];
}

function MemberMenu({ team, rights, member }: PartProps & { readonly member: TeamMember }) {
  const t = useTexts();
  const { username: name, user_id: id } = member;
  const ownId = useUser()?.id;
  const change = (role: TeamRole) =>
    void changeMemberRole(team.id, id, role).then(
      () => toast("success", t("roleChanged", { name, role: t(role) })),
      toastProblem,
    );
  const remove = async () => {
    const body = t(team.settings.on_leave === "transfer" ? "removeBodyTransfer" : "removeBodyDisable");
    const question = { title: t("removeTitle", { name }), body, confirm: t("removeMember"), isDangerous: true };
    if (!(await ask(question))) return;
    await removeMember(team.id, id).then(() => toast("success", t("memberRemoved", { name })), toastProblem);
  };
  // Only owners make and end owners.
  const isOpen = rights.manage && (rights.own || member.role !== "owner");
  if (!isOpen) return null;
  const roles = TEAM_ROLES.filter((role) => role !== member.role && (rights.own || role !== "owner"));
  const entries: (MenuEntry | undefined)[] = [
    ...roles.map((role): MenuEntry => ({
      id: role,
      label: t("makeRole", { role: t(role) }),
      icon: "users",
      run: () => change(role),
    })),
    ...(id === ownId
      ? []
      : [
          undefined,
          {
            id: "remove",
            label: t("removeMember"),
            icon: "trash",
            isDangerous: true,
            run: () => void remove(),
          } as const,
        ]),
  ];
  return (
    <div className="row-actions">
      <RowMenu name={name} entries={entries} />
    </div>
  );
}

function matches({ username, display_name: shown }: TeamMember, text: string): boolean {
  return `${username}\n${shown}`.toLowerCase().includes(text.trim().toLowerCase());
}

/** The members of a team, and for admins those who are invited. */
export function Members(props: PartProps) {
  const t = useTexts();
  const { team, rights } = props;
  const list = useList(DEFAULTS);
  const { data, error, isFetching, refetch } = useQuery(membersQuery(team.id));
  const [dialog, setDialog] = useState<"invite" | "add">();
  const close = () => setDialog(undefined);
  const columns = useMemo(() => memberColumns(t), [t]);
  const found = data?.filter((member) => matches(member, list.state.q));
  const from = (list.page - 1) * list.size;
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  return (
    <Stack gap="4">
      <div>
        <Flex gap="2" wrap="wrap" align="flex-start" mb="3">
          <Box flex="1" minW="48">
            <FilterText isMain label={t("search")} value={list.state.q} onChange={(q) => list.filter({ q })} />
          </Box>
          {rights.isOperator && (
            <Button variant="outline" onClick={() => setDialog("add")}>
              {t("addMember")}
            </Button>
          )}
          {rights.manage && (
            <Button onClick={() => setDialog("invite")}>
              <Icon name="plus" />
              {t("invite")}
            </Button>
          )}
        </Flex>
        <DataGrid
          label={t("members")}
          columns={columns}
          rows={found?.slice(from, from + list.size)}
          rowId={(member) => member.user_id}
          rowName={(member) => member.username}
          isFetching={isFetching}
          isMuted={({ status }) => status !== USER_STATUS.enabled}
          pager={list.pager(found?.length)}
          actions={(member) => <MemberMenu {...props} member={member} />}
          empty={<NoMatch onClear={list.clear} />}
        />
      </div>
      {rights.manage && <Invitations team={team} />}
      {rights.manage && <ServiceAccounts team={team.id} />}
      {dialog === "invite" && <InviteDialog team={team} onClose={close} />}
      {dialog === "add" && <AddMemberDialog team={team} onClose={close} />}
    </Stack>
  );
}
