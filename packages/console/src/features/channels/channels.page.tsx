import { CHANNEL_STATUS, type Channel } from "@fairway/wire";
import { Box, Button } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { Link, Outlet, useLocation, useNavigate } from "react-router";
import { useKeys } from "../../lib/keys.ts";
import { stored } from "../../lib/storage.ts";
import { ask } from "../../ui/ask.ts";
import { BulkBar, BulkButton } from "../../ui/bulk-bar.tsx";
import { DataGrid } from "../../ui/data-grid.tsx";
import { EmptyTeach, LoadFailed, NoMatch } from "../../ui/empty.tsx";
import { FilterBar, FilterSelect, FilterText } from "../../ui/filter-bar.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Page } from "../../ui/page.tsx";
import { problemText, toast, toastProblem } from "../../ui/toaster.ts";
import { LIST_DEFAULTS, useList } from "../../ui/use-list.ts";
import { changeMany, channelsQuery, groupsQuery, testChannel, typesQuery } from "./api.ts";
import { channelColumns } from "./columns.tsx";
import { RowActions } from "./row-actions.tsx";
import { useTexts } from "./texts.ts";

const DEFAULTS = { ...LIST_DEFAULTS, q: "", model: "", status: "", type: "", group: "" };

function AddButton() {
  const t = useTexts();
  const { search } = useLocation();
  return (
    <Button asChild>
      <Link to={{ pathname: "/channel/add", search }}>
        <Icon name="plus" />
        {t("add")}
      </Link>
    </Button>
  );
}

/** Runs tests and knows which rows are being tested. */
function useTests() {
  const t = useTexts();
  const [testing, setTesting] = useState<ReadonlySet<number>>(new Set());
  const test = useCallback(
    (channel: Channel) => {
      setTesting((current) => new Set(current).add(channel.id));
      testChannel(channel)
        .then(
          (time) => toast("success", t("testGood", { name: channel.name, seconds: time.toFixed(2) })),
          (problem: unknown) => toast("error", t("testBad", { name: channel.name, message: problemText(problem) })),
        )
        .finally(() =>
          setTesting((current) => {
            const rest = new Set(current);
            rest.delete(channel.id);
            return rest;
          }),
        );
    },
    [t],
  );
  return { testing, test };
}

interface FiltersProps {
  readonly list: ReturnType<typeof useList<typeof DEFAULTS>>;
  readonly byId: boolean;
  onById(byId: boolean): void;
}

function Filters({ list, byId, onById }: FiltersProps) {
  const t = useTexts();
  const { state, filter } = list;
  const types = useQuery(typesQuery).data ?? [];
  const groups = useQuery(groupsQuery).data ?? [];
  const statuses = [
    { value: "", label: t("anyStatus") },
    { value: String(CHANNEL_STATUS.enabled), label: t("enabled") },
    { value: String(CHANNEL_STATUS.disabledByHand), label: t("disabledByHand") },
    { value: String(CHANNEL_STATUS.disabledBySystem), label: t("disabledBySystem") },
  ];
  const typeChoices = [
    { value: "", label: t("anyType") },
    ...types.map((type) => ({ value: String(type.type), label: type.label })),
  ];
  const groupChoices = [{ value: "", label: t("anyGroup") }, ...groups.map((name) => ({ value: name, label: name }))];
  return (
    <FilterBar
      main={<FilterText isMain label={t("search")} value={state.q} onChange={(q) => filter({ q })} />}
      isActive={list.isFiltered}
      onClear={list.clear}
    >
      <FilterText label={t("searchModel")} value={state.model} onChange={(model) => filter({ model })} />
      <FilterSelect
        label={t("status")}
        value={state.status}
        choices={statuses}
        onChange={(status) => filter({ status })}
      />
      <FilterSelect label={t("type")} value={state.type} choices={typeChoices} onChange={(type) => filter({ type })} />
      <FilterSelect
        label={t("group")}
        value={state.group}
        choices={groupChoices}
        onChange={(group) => filter({ group })}
      />
      <Box ms={{ base: "0", sm: "auto" }} width={{ base: "calc(50% - 4px)", sm: "auto" }}>
        <FilterSelect
          label={t("order")}
          value={byId ? "id" : "priority"}
          choices={[
            { value: "priority", label: t("byPriority") },
            { value: "id", label: t("byId") },
          ]}
          onChange={(order) => onById(order === "id")}
        />
      </Box>
    </FilterBar>
  );
}

function useBulk(selected: ReadonlySet<number>, onDone: () => void) {
  const t = useTexts();
  return async (action: "enable" | "disable" | "delete") => {
    if (action === "delete") {
      const title = t("removeManyTitle", { count: selected.size });
      if (!(await ask({ title, body: t("removeBody"), confirm: t("remove"), isDangerous: true }))) return;
    }
    try {
      const results = await changeMany([...selected], action);
      const failed = results.filter((result) => !result.success);
      const count = results.length - failed.length;
      if (count > 0) toast("success", t(action === "delete" ? "removedMany" : "changedMany", { count }));
      if (failed[0]) toast("error", t("someFailed", { count: failed.length, message: failed[0].message }));
      onDone();
    } catch (problem) {
      toastProblem(problem);
    }
  };
}

export function ChannelsPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const search = useLocation().search;
  const list = useList(DEFAULTS);
  const { state, page, size } = list;
  const [byId, setById] = useState(stored.idSort.read() === "true");
  const { data, error, isFetching, refetch } = useQuery(
    channelsQuery({
      page,
      size,
      byId,
      sort: state.sort,
      q: state.q,
      model: state.model,
      status: state.status,
      type: state.type,
      group: state.group,
    }),
  );
  const types = useQuery(typesQuery).data;
  const byType = useMemo(() => new Map(types?.map((type) => [type.type, type])), [types]);
  const { testing, test } = useTests();
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  const bulk = useBulk(selected, () => setSelected(new Set()));
  const columns = useMemo(() => channelColumns({ t, types: byType, testing }), [t, byType, testing]);
  const edit = (channel: Channel) => void navigate({ pathname: `/channel/edit/${channel.id}`, search });
  const isEmpty = data?.rows.length === 0 && !list.isFiltered && page === 1;
  useKeys("c", () => void navigate({ pathname: "/channel/add", search }));

  return (
    <Page title={t("title")} actions={<AddButton />}>
      {!isEmpty && (
        <Filters
          list={list}
          byId={byId}
          onById={(next) => {
            stored.idSort.write(next ? "true" : "false");
            setById(next);
          }}
        />
      )}
      {error && !data ? (
        <LoadFailed problem={error} onRetry={() => void refetch()} />
      ) : (
        <DataGrid
          label={t("title")}
          columns={columns}
          rows={data?.rows}
          rowId={(channel) => channel.id}
          rowName={(channel) => channel.name}
          isFetching={isFetching}
          pager={list.pager(data?.total)}
          sort={state.sort}
          onSort={list.sort}
          selection={{ ids: selected, change: setSelected }}
          isMuted={(channel) => channel.status !== CHANNEL_STATUS.enabled}
          onOpen={edit}
          keys={{ e: edit, t: test }}
          actions={(channel) => (
            <RowActions
              channel={channel}
              type={byType.get(channel.type)}
              isTesting={testing.has(channel.id)}
              onTest={test}
            />
          )}
          empty={
            isEmpty ? (
              <EmptyTeach icon="channel" title={t("emptyTitle")} body={t("emptyBody")}>
                <AddButton />
              </EmptyTeach>
            ) : (
              <NoMatch onClear={list.clear} />
            )
          }
        />
      )}
      <BulkBar count={selected.size} onClear={() => setSelected(new Set())}>
        <BulkButton label={t("enable")} run={() => void bulk("enable")} />
        <BulkButton label={t("disable")} run={() => void bulk("disable")} />
        <BulkButton label={t("remove")} isDangerous run={() => void bulk("delete")} />
      </BulkBar>
      <Outlet />
    </Page>
  );
}
