import { Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link } from "react-router";
import { EmptyTeach } from "../../ui/feedback/empty.tsx";
import { FilterBar, FilterSelect, FilterText } from "../../ui/grid/filter-bar.tsx";
import type { Column } from "../../ui/grid/grid-props.ts";
import { ListPage } from "../../ui/list/list-page.tsx";
import { LIST_DEFAULTS, useList } from "../../ui/grid/use-list.ts";
import { managedQuery, type Managed } from "./api.ts";
import { ApplyPanel } from "./apply-panel.tsx";
import { ownerText } from "./owner.ts";
import { useTexts } from "./texts.ts";

const DEFAULTS = { ...LIST_DEFAULTS, q: "", kind: "", owner: "" };

type Row = Managed & { readonly id: number };

/** Returns the page of the described resource; option sets have none. */
function findAddress({ kind, resource_id: id }: Managed): string | undefined {
  if (kind === "Channel") return `/channel/${id}`;
  if (kind === "Budget") return `/budget/${id}`;
  if (kind === "User") return `/user/${id}`;
  return kind === "OptionSet" ? "/setting" : undefined;
}

function NameCell({ row }: { readonly row: Row }) {
  const address = findAddress(row);
  return address === undefined ? (
    <span className="cut strong">{row.name}</span>
  ) : (
    <Link className="link cut" to={address}>
      {row.name}
    </Link>
  );
}

function buildColumns(t: ReturnType<typeof useTexts>): Column<Row>[] {
  return [
    { id: "name", header: t("name"), width: 200, isTitle: true, rank: 0, cell: (row) => <NameCell row={row} /> },
    { id: "kind", header: t("kind"), width: 110, cell: (row) => row.kind },
    { id: "owner", header: t("owner"), width: 200, cell: (row) => ownerText(row.owner, t) },
    {
      id: "fields",
      header: t("fields"),
      width: 260,
      isElastic: true,
      isMinor: true,
      cell: (row) => <span className="cut soft">{row.fields.join(", ")}</span>,
    },
  ];
}

const unique = (values: readonly string[]) => [...new Set(values)].toSorted();

/** Shows what documents describe and who owns it, and lets the user plan and apply some. */
export function DocumentsPage() {
  const t = useTexts();
  const list = useList(DEFAULTS);
  const { state, page, size } = list;
  const { data, error, isFetching, refetch } = useQuery(managedQuery);
  const columns = useMemo(() => buildColumns(t), [t]);
  const matching = useMemo(
    () =>
      data
        ?.map((row, id) => ({ ...row, id }))
        .filter(
          ({ name, kind, owner }) =>
            name.includes(state.q.toLowerCase()) &&
            (state.kind === "" || state.kind === kind) &&
            (state.owner === "" || state.owner === owner),
        ),
    [data, state.q, state.kind, state.owner],
  );
  const kinds = unique(data?.map(({ kind }) => kind) ?? []);
  const owners = unique(data?.map(({ owner }) => owner) ?? []);
  return (
    <ListPage
      title={t("title")}
      notice={<ApplyPanel />}
      filters={
        <FilterBar
          main={<FilterText isMain label={t("find")} value={state.q} onChange={(q) => list.filter({ q })} />}
          isActive={list.isFiltered}
          onClear={list.clear}
        >
          <FilterSelect
            label={t("kind")}
            value={state.kind}
            choices={[{ value: "", label: t("anyKind") }, ...kinds.map((kind) => ({ value: kind, label: kind }))]}
            onChange={(kind) => list.filter({ kind })}
          />
          <FilterSelect
            label={t("owner")}
            value={state.owner}
            choices={[
              { value: "", label: t("anyOwner") },
              ...owners.map((owner) => ({ value: owner, label: ownerText(owner, t) })),
            ]}
            onChange={(owner) => list.filter({ owner })}
          />
        </FilterBar>
      }
      list={list}
      query={{
        data: matching && { rows: matching.slice((page - 1) * size, page * size), total: matching.length },
        error,
        isFetching,
        refetch,
      }}
      columns={columns}
      rowId={(row) => row.id}
      rowName={(row) => `${row.kind} ${row.name}`}
      teach={<EmptyTeach icon="file" title={t("emptyTitle")} body={<Text>{t("emptyBody")}</Text>} />}
    />
  );
}
