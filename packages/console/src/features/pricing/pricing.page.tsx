import { Button } from "@chakra-ui/react";
import { pricingList, type PricingRow } from "@fairway/wire";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Link } from "react-router";
import { isAdmin, useUser } from "../../session/session.ts";
import { useStatus } from "../../session/status.ts";
import { formatCount } from "../../lib/format.ts";
import { request } from "../../lib/http.ts";
import { currentLanguage, useLanguage } from "../../lib/i18n.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { FRESH_STATIC_MS } from "../../lib/query.ts";
import { BulkBar } from "../../ui/bulk/bulk-bar.tsx";
import { CopyButton } from "../../ui/content/copy-button.tsx";
import { DataGrid } from "../../ui/grid/data-grid.tsx";
import type { Column, RowId } from "../../ui/grid/grid-props.ts";
import { EmptyTeach, LoadFailed, NoMatch } from "../../ui/feedback/empty.tsx";
import { FilterBar, FilterSelect, FilterText } from "../../ui/grid/filter-bar.tsx";
import { NoticeBar } from "../../ui/feedback/notice-bar.tsx";
import { Page } from "../../ui/display/page.tsx";
import { LIST_DEFAULTS, useList } from "../../ui/grid/use-list.ts";
import { Calculator } from "./calculator.tsx";
import { calculateCost, parseCount, type Usual } from "./estimate.ts";
import { dollars, isByCall, calculatePrice, short } from "./price.ts";
import { useTexts } from "./texts.ts";

const DEFAULTS = { ...LIST_DEFAULTS, q: "", group: "", by: "", in: "800", out: "300", n: "1000" };
const DEFAULT_GROUP = "default";

interface Priced extends PricingRow {
  readonly id: number;
}

interface Pricing {
  readonly rows: readonly Priced[];
  readonly ratios: Readonly<Record<string, number>>;
}

function pricingQuery(userId: number | undefined) {
  return queryOptions({
    queryKey: queryKeys.pricing.list(userId),
    queryFn: async ({ signal }): Promise<Pricing> => {
      const { data, siblings } = await request(pricingList, { signal });
      const ratios = (siblings.group_ratio ?? {}) as Record<string, number>;
      return { rows: data.map((row, id) => ({ ...row, id })), ratios };
    },
    staleTime: FRESH_STATIC_MS,
  });
}

interface Reader {
  readonly group: string;
  readonly ratio: number;
  readonly usual: Usual;
}

function columns(t: ReturnType<typeof useTexts>, { group, ratio, usual }: Reader): Column<Priced>[] {
  const cell = (row: Priced, part: "input" | "output" | "call") =>
    dollars(calculatePrice(row, ratio)[part], currentLanguage());
  return [
    {
      id: "model",
      header: t("model"),
      sort: "model",
      isTitle: true,
      cell: (row) => (
        <span className="name-and-note">
          <span className="cut">{row.model_name}</span>
          <CopyButton text={row.model_name} label={t("copyName", { name: row.model_name })} />
        </span>
      ),
    },
    { id: "kind", header: t("kind"), cell: (row) => t(isByCall(row) ? "byCall" : "byTokens") },
    { id: "input", header: t("input"), sort: "input", align: "end", cell: (row) => cell(row, "input") },
    { id: "output", header: t("output"), sort: "output", align: "end", cell: (row) => cell(row, "output") },
    { id: "call", header: t("perCall"), sort: "call", align: "end", cell: (row) => cell(row, "call") },
    {
      id: "cost",
      header: t("cost"),
      sort: "cost",
      align: "end",
      cell: (row) => <strong>{dollars(calculateCost(row, ratio, usual), currentLanguage())}</strong>,
    },
    {
      id: "ratio",
      header: t("ratio"),
      align: "end",
      isMinor: true,
      cell: (row) => (
        <span title={t("ratioHelp")}>
          {isByCall(row) ? "–" : `${short(row.model_ratio)} · ${short(row.completion_ratio)}`}
        </span>
      ),
    },
    {
      id: "groups",
      header: t("groups"),
      isMinor: true,
      cell: (row) => (
        <span className={row.enable_groups.includes(group) ? "soft" : undefined}>
          {row.enable_groups.includes(group) ? row.enable_groups.join(", ") : t("notInGroup")}
        </span>
      ),
    },
  ];
}

function ordered(rows: readonly Priced[], sort: string, { ratio, usual }: Reader): readonly Priced[] {
  const key = sort.replace(/^-/, "");
  const sign = sort.startsWith("-") ? -1 : 1;
  if (key === "") return rows;
  if (key === "model") return rows.toSorted((a, b) => sign * a.model_name.localeCompare(b.model_name));
  const value = (row: Priced) =>
    key === "cost" ? calculateCost(row, ratio, usual) : calculatePrice(row, ratio)[key as "input" | "output" | "call"];
  return rows.toSorted((a, b) => {
    const [first, second] = [value(a), value(b)];
    // Rows without such a price come last in both directions.
    if (first === undefined || second === undefined) return Number(first === undefined) - Number(second === undefined);
    return sign * (first - second);
  });
}

/** The prices of all models, for the user's group or another one. */
export function PricingPage() {
  const t = useTexts();
  const language = useLanguage();
  const user = useUser();
  const { quota_per_unit: unit } = useStatus();
  const list = useList(DEFAULTS);
  const { state, page, size } = list;
  const { data, error, isFetching, refetch } = useQuery(pricingQuery(user?.id));
  const own = user?.group ?? DEFAULT_GROUP;
  const group = state.group || own;
  const ratio = data?.ratios[group] ?? 1;
  const reader = useMemo(
    () => ({
      group,
      ratio,
      usual: { input: parseCount(state.in), output: parseCount(state.out), requests: parseCount(state.n) },
    }),
    [group, ratio, state.in, state.out, state.n],
  );
  const shown = useMemo(() => columns(t, reader), [t, reader]);
  const [selected, setSelected] = useState<ReadonlySet<RowId>>(new Set());
  const matching = useMemo(() => {
    const word = state.q.toLowerCase();
    const found = data?.rows.filter(
      (row) => row.model_name.toLowerCase().includes(word) && (state.by === "" || String(isByCall(row)) === state.by),
    );
    return found && ordered(found, state.sort, reader);
  }, [data, state.q, state.by, state.sort, reader]);
  const names = data?.rows.filter(({ id }) => selected.has(id)).map(({ model_name: name }) => name) ?? [];
  const groups = Object.entries(data?.ratios ?? {}).map(([name, each]) => ({
    value: name === own ? "" : name,
    label: t("groupChoice", { name, ratio: each }),
  }));
  return (
    <Page title={t("title")}>
      <NoticeBar icon="help" hue="fairway">
        {t(user ? "yours" : "visitors", { name: group, ratio })} {t("formula", { unit: formatCount(unit, language) })}
      </NoticeBar>
      <FilterBar
        main={<FilterText isMain label={t("find")} value={state.q} onChange={(q) => list.filter({ q })} />}
        isActive={list.isFiltered}
        onClear={list.clear}
      >
        {groups.length > 1 && (
          <FilterSelect
            label={t("group")}
            value={state.group}
            choices={groups}
            onChange={(value) => list.filter({ group: value })}
          />
        )}
        <FilterSelect
          label={t("payBy")}
          value={state.by}
          choices={[
            { value: "", label: t("anyPay") },
            { value: "false", label: t("byTokens") },
            { value: "true", label: t("byCall") },
          ]}
          onChange={(by) => list.filter({ by })}
        />
      </FilterBar>
      <Calculator usual={state} change={(usual) => list.filter(usual)} />
      {error && !data ? (
        <LoadFailed problem={error} onRetry={() => void refetch()} />
      ) : (
        <DataGrid
          label={t("title")}
          columns={shown}
          rows={matching?.slice((page - 1) * size, page * size)}
          rowId={(row) => row.id}
          rowName={(row) => row.model_name}
          isFetching={isFetching}
          pager={list.pager(matching?.length)}
          sort={state.sort}
          onSort={list.sort}
          selection={{ ids: selected, change: setSelected }}
          isMuted={(row) => !row.enable_groups.includes(group)}
          empty={
            list.isFiltered ? (
              <NoMatch onClear={list.clear} />
            ) : (
              <EmptyTeach icon="channel" title={t("emptyTitle")} body={t("emptyBody")}>
                {isAdmin(user) && (
                  <Button asChild>
                    <Link to="/channel/add">{t("addChannel")}</Link>
                  </Button>
                )}
              </EmptyTeach>
            )
          }
        />
      )}
      <BulkBar count={names.length} onClear={() => setSelected(new Set())}>
        <CopyButton text={names.join(",")} label={t("copySelected")} isPrimary>
          {t("copySelected")}
        </CopyButton>
      </BulkBar>
    </Page>
  );
}
