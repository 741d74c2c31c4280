import type { IdentityProvider } from "@fairway/wire";
import { Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, Outlet, useLocation, useNavigate } from "react-router";
import type { Column } from "../../ui/grid/grid-props.ts";
import { SearchedList } from "../../ui/list/searched-list.tsx";
import { RowMenu } from "../../ui/menu/row-menu.tsx";
import { LIST_PATH, providersQuery } from "./api.ts";
import { findKind, PROVIDER_KINDS } from "./kinds.ts";
import { useProviderEntries } from "./provider-entries.ts";
import { ProviderState } from "./provider-state.tsx";
import { useTexts, type Texts } from "./texts.ts";

function buildColumns(t: Texts): Column<IdentityProvider>[] {
  return [
    {
      id: "name",
      header: t("name"),
      width: 170,
      isElastic: true,
      isTitle: true,
      rank: 0,
      cell: (row) => (
        <Link className="link cut" to={`${LIST_PATH}/${row.id}`}>
          <bdi>{row.name}</bdi>
        </Link>
      ),
    },
    { id: "state", header: t("state"), width: 150, rank: 0, cell: (row) => <ProviderState row={row} /> },
    { id: "kind", header: t("kind"), width: 130, cell: (row) => t(PROVIDER_KINDS[findKind(row.issuer)].label) },
    { id: "issuer", header: t("issuer"), width: 230, cell: (row) => <span className="mono cut">{row.issuer}</span> },
    {
      id: "domains",
      header: t("domains"),
      width: 150,
      isMinor: true,
      cell: (row) => <span className="mono cut">{row.domains.join(", ")}</span>,
    },
    { id: "rules", header: t("rules"), width: 84, align: "end", isMinor: true, cell: (row) => row.mapping.length },
  ];
}

function RowActions({ row }: { readonly row: IdentityProvider }) {
  const t = useTexts();
  const navigate = useNavigate();
  const { search } = useLocation();
  const entries = useProviderEntries(row);
  const edit = () => void navigate({ pathname: `${LIST_PATH}/edit/${row.id}`, search });
  return (
    <div className="row-actions">
      <RowMenu name={row.name} entries={[{ id: "edit", label: t("editRow"), icon: "edit", run: edit }, ...entries]} />
    </div>
  );
}

/** The identity providers with which people of companies sign in. */
export function ProvidersPage() {
  const t = useTexts();
  const columns = useMemo(() => buildColumns(t), [t]);
  return (
    <SearchedList
      path={LIST_PATH}
      title={t("title")}
      notice={
        <Text color="fg.muted" mb="3">
          {t("intro")}
        </Text>
      }
      addLabel={t("add")}
      searchLabel={t("search")}
      query={useQuery(providersQuery)}
      columns={columns}
      toSearched={({ name, slug, issuer }) => `${name} ${slug} ${issuer}`}
      isMuted={(row) => row.status !== 1}
      actions={(row) => <RowActions row={row} />}
      empty={{ icon: "users", title: t("emptyTitle"), body: t("emptyBody") }}
    >
      <Outlet />
    </SearchedList>
  );
}
