import type { Webhook } from "@fairway/wire";
import { Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo, type ReactNode } from "react";
import { Link, Outlet, useLocation, useNavigate } from "react-router";
import type { Column } from "../../../ui/grid/grid-props.ts";
import { SearchedList } from "../../../ui/list/searched-list.tsx";
import { RowMenu } from "../../../ui/menu/row-menu.tsx";
import { endpointsQuery } from "../api.ts";
import type { Owner } from "../owner.ts";
import { useTexts, type Texts } from "../texts.ts";
import { useEndpointEntries } from "./endpoint-entries.ts";
import { EndpointState, LastSuccess } from "./endpoint-state.tsx";
import { FORMAT_FIELDS } from "./formats.ts";
import { MailsLine } from "./mails.tsx";

function buildColumns(t: Texts, { path }: Owner): Column<Webhook>[] {
  return [
    {
      id: "name",
      header: t("name"),
      width: 170,
      isElastic: true,
      isTitle: true,
      rank: 0,
      cell: (row) => (
        <Link className="link cut" to={`${path}/${row.id}`}>
          <bdi>{row.name}</bdi>
        </Link>
      ),
    },
    { id: "state", header: t("state"), width: 120, rank: 0, cell: (row) => <EndpointState row={row} /> },
    { id: "format", header: t("format"), width: 130, cell: (row) => t(FORMAT_FIELDS[row.format].label) },
    { id: "host", header: t("host"), width: 180, cell: (row) => <span className="mono cut">{row.host}</span> },
    {
      id: "types",
      header: t("sectionTypes"),
      width: 110,
      isMinor: true,
      cell: (row) => (row.types.length === 0 ? t("everyType") : t("someTypes", { count: row.types.length })),
    },
    { id: "success", header: t("lastSuccess"), width: 110, cell: (row) => <LastSuccess row={row} /> },
    { id: "failures", header: t("failures"), width: 84, align: "end", cell: (row) => row.failures },
  ];
}

function RowActions({ row, owner }: { readonly row: Webhook; readonly owner: Owner }) {
  const t = useTexts();
  const navigate = useNavigate();
  const { search } = useLocation();
  const entries = useEndpointEntries(row, owner);
  return (
    <div className="row-actions">
      <RowMenu
        name={row.name}
        entries={[
          {
            id: "edit",
            label: t("editRow"),
            icon: "edit",
            run: () => void navigate({ pathname: `${owner.path}/edit/${row.id}`, search }),
          },
          ...entries,
        ]}
      />
    </div>
  );
}

interface ListProps {
  readonly owner: Owner;
  /** A drawer over the list, where the address opens none. */
  readonly children?: ReactNode;
}

/** The endpoints of one owner. */
export function EndpointList({ owner, children }: ListProps) {
  const t = useTexts();
  const columns = useMemo(() => buildColumns(t, owner), [t, owner]);
  return (
    <SearchedList
      path={owner.path}
      title={t(owner.title)}
      notice={
        <>
          <Text color="fg.muted" mb="3">
            {t(owner.body)}{" "}
            <Link className="link" to={owner.events}>
              {t("recentEvents")}
            </Link>
          </Text>
          {owner.name === "own" && <MailsLine />}
        </>
      }
      addLabel={t("add")}
      searchLabel={t("search")}
      query={useQuery(endpointsQuery(owner))}
      columns={columns}
      toSearched={({ name, host }) => `${name} ${host}`}
      isMuted={(row) => row.status !== "on"}
      actions={(row) => <RowActions row={row} owner={owner} />}
      empty={{ icon: "send", title: t("emptyTitle"), body: t("emptyBody") }}
    >
      <Outlet />
      {children}
    </SearchedList>
  );
}
