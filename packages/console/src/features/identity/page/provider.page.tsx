import type { IdentityProvider, LinkedIdentity } from "@fairway/wire";
import { Button, Flex } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, useParams } from "react-router";
import { isRowId, RowPage } from "../../../shared/row/row-page.tsx";
import { Icon } from "../../../ui/display/icon.tsx";
import { When } from "../../../ui/display/when.tsx";
import { EmptyTeach } from "../../../ui/feedback/empty.tsx";
import type { Column } from "../../../ui/grid/grid-props.ts";
import { LIST_DEFAULTS, useList } from "../../../ui/grid/use-list.ts";
import { ListPage } from "../../../ui/list/list-page.tsx";
import { MenuButton } from "../../../ui/menu/menu-button.tsx";
import { LIST_PATH, linkedQuery, shownProviderQuery } from "../api.ts";
import { useProviderEntries } from "../provider-entries.ts";
import { ProviderState } from "../provider-state.tsx";
import { useTexts, type Texts } from "../texts.ts";
import { Directory } from "./directory.tsx";
import { ProviderFacts } from "./provider-facts.tsx";
import { TestPanel } from "./test-panel.tsx";

/** One provider: its settings, its test, the directory, and who is linked. */
export function ProviderPage() {
  const t = useTexts();
  const id = Number(useParams()["id"]);
  const query = useQuery({ ...shownProviderQuery(id), enabled: isRowId(id) });
  const missing = {
    key: "identity_provider_not_found",
    icon: "users",
    title: t("missingTitle"),
    body: t("missingBody"),
    list: { path: LIST_PATH, label: t("all") },
  } as const;
  return (
    <RowPage title={t("title")} id={id} row={query.data} query={query} missing={missing}>
      {(row) => <Shown key={row.id} row={row} />}
    </RowPage>
  );
}

const ROLE_TEXT: Readonly<Record<string, "roleUser" | "roleAdmin">> = { user: "roleUser", admin: "roleAdmin" };

function buildColumns(t: Texts): Column<LinkedIdentity>[] {
  return [
    {
      id: "user",
      header: t("account"),
      width: 160,
      isElastic: true,
      isTitle: true,
      rank: 0,
      cell: (row) => (
        <Link className="link cut" to={`/user/${row.user_id}`}>
          <bdi>{row.username}</bdi>
        </Link>
      ),
    },
    { id: "subject", header: t("subject"), width: 240, cell: (row) => <code className="cut">{row.subject}</code> },
    {
      id: "role",
      header: t("role"),
      width: 140,
      cell: (row) => {
        const text = ROLE_TEXT[row.role];
        return text === undefined ? "" : t(text);
      },
    },
    { id: "group", header: t("group"), width: 110, cell: (row) => row.group },
    { id: "last", header: t("lastSignIn"), width: 120, cell: (row) => <When at={row.last_at} /> },
  ];
}

function Shown({ row }: { readonly row: IdentityProvider }) {
  const t = useTexts();
  const list = useList(LIST_DEFAULTS);
  const query = useQuery(linkedQuery(row.id, list));
  const columns = useMemo(() => buildColumns(t), [t]);
  return (
    <ListPage
      title={row.name}
      aside={<ProviderState row={row} />}
      pageActions={<Actions row={row} />}
      notice={
        <Flex direction="column" gap="3" mb="4">
          <ProviderFacts row={row} />
          <TestPanel row={row} />
          <Directory row={row} />
        </Flex>
      }
      filters={null}
      list={list}
      query={query}
      columns={columns}
      rowId={(linked) => linked.id}
      rowName={(linked) => linked.username}
      density="compact"
      teach={<EmptyTeach icon="users" title={t("noneLinked")} body={t("noneLinkedBody")} />}
    />
  );
}

function Actions({ row }: { readonly row: IdentityProvider }) {
  const t = useTexts();
  const entries = useProviderEntries(row);
  return (
    <>
      <Button asChild variant="outline">
        <Link to={LIST_PATH}>{t("all")}</Link>
      </Button>
      <Button asChild variant="outline">
        <Link to={`${LIST_PATH}/edit/${row.id}`}>{t("editRow")}</Link>
      </Button>
      <MenuButton label={t("more")} variant="outline" entries={entries}>
        <Icon name="dots" />
      </MenuButton>
    </>
  );
}
