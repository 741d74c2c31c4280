import { ROLE, USER_STATUS, type User } from "@fairway/wire";
import { Link, useLocation } from "react-router";
import { useUser } from "../../session/session.ts";
import { formatCount } from "../../lib/format.ts";
import { currentLanguage } from "../../lib/i18n.ts";
import type { Column } from "../../ui/grid/grid-props.ts";
import { Mark, type MarkKind } from "../../ui/display/mark.tsx";
import { Money } from "../../ui/display/money.tsx";
import { isDeleted, isOpenTo } from "./access.ts";
import { useTexts } from "./texts.ts";

export type RoleText = "role1" | "role10" | "role100";

export function roleText(role: number): RoleText {
  if (role >= ROLE.root) return "role100";
  return role >= ROLE.admin ? "role10" : "role1";
}

function NameCell({ user }: { readonly user: User }) {
  const { search } = useLocation();
  const isOpen = isOpenTo(useUser(), user);
  return (
    <span className="cut">
      {isOpen ? (
        <Link className="link" to={{ pathname: `/user/edit/${user.id}`, search }}>
          <bdi>{user.username}</bdi>
        </Link>
      ) : (
        <bdi>{user.username}</bdi>
      )}
      {user.display_name !== "" && user.display_name !== user.username && (
        <span className="soft">
          {" "}
          <bdi>{user.display_name}</bdi>
        </span>
      )}
    </span>
  );
}

const STATES: Readonly<Record<number, { mark: MarkKind; text: "activated" | "banned" }>> = {
  [USER_STATUS.enabled]: { mark: "go", text: "activated" },
  [USER_STATUS.disabled]: { mark: "stop", text: "banned" },
};

/** Shows whether the account may sign in. */
export function StateMark({ user }: { readonly user: User }) {
  const t = useTexts();
  if (isDeleted(user)) return <Mark kind="unknown" label={t("cancelled")} />;
  const state = STATES[user.status];
  return state ? <Mark kind={state.mark} label={t(state.text)} /> : <Mark kind="unknown" label={t("unknownState")} />;
}

export function userColumns(t: ReturnType<typeof useTexts>): Column<User>[] {
  return [
    { id: "id", header: t("id"), width: 48, rank: 5, sort: "id", align: "end", cell: (user) => user.id },
    {
      id: "name",
      header: t("user"),
      width: 180,
      isElastic: true,
      sort: "username",
      isTitle: true,
      cell: (user) => <NameCell user={user} />,
    },
    { id: "group", header: t("group"), width: 66, rank: 2, cell: (user) => user.group },
    {
      id: "role",
      header: t("role"),
      width: 90,
      sort: "role",
      cell: (user) => <span className="nowrap">{t(roleText(user.role))}</span>,
    },
    { id: "state", header: t("status"), width: 98, sort: "status", cell: (user) => <StateMark user={user} /> },
    {
      id: "balance",
      header: t("balance"),
      width: 80,
      rank: 0,
      sort: "quota",
      align: "end",
      cell: (user) => <Money quota={user.quota} />,
    },
    {
      id: "used",
      header: t("used"),
      width: 70,
      sort: "used_quota",
      align: "end",
      cell: (user) => <Money quota={user.used_quota} />,
    },
    {
      id: "calls",
      header: t("calls"),
      width: 112,
      rank: 3,
      sort: "request_count",
      align: "end",
      isMinor: true,
      cell: (user) => formatCount(user.request_count, currentLanguage()),
    },
    {
      id: "invited",
      header: t("invited"),
      width: 66,
      rank: 6,
      align: "end",
      isMinor: true,
      cell: (user) => formatCount(user.aff_count, currentLanguage()),
    },
    {
      id: "earned",
      header: t("earned"),
      width: 70,
      rank: 7,
      align: "end",
      isMinor: true,
      cell: (user) => <Money quota={user.aff_history_quota} />,
    },
    {
      id: "inviter",
      header: t("inviter"),
      width: 82,
      rank: 8,
      isMinor: true,
      cell: (user) => (user.inviter_id > 0 ? `#${user.inviter_id}` : <span className="soft">–</span>),
    },
  ];
}
