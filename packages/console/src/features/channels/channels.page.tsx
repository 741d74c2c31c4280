import { CHANNEL_STATUS, type Channel } from "@fairway/wire";
import { Button } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { Link, Outlet, useLocation, useNavigate } from "react-router";
import { useKeys } from "../../lib/keys.ts";
import { stored } from "../../lib/storage.ts";
import { DataGrid } from "../../ui/grid/data-grid.tsx";
import { EmptyTeach, LoadFailed, NoMatch } from "../../ui/feedback/empty.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { Page } from "../../ui/display/page.tsx";
import { problemText, toast } from "../../ui/feedback/toaster.ts";
import { useList } from "../../ui/grid/use-list.ts";
import { channelsQuery, testChannel, typesQuery } from "./api.ts";
import { BulkActions } from "./bulk-actions.tsx";
import { channelColumns } from "./columns.tsx";
import { DEFAULTS, Filters } from "./filters.tsx";
import { JobBars, PageMenu } from "./page-menu.tsx";
import { RowActions } from "./row-actions.tsx";
import { useTexts } from "./texts.ts";

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

function Actions() {
  return (
    <>
      <PageMenu />
      <AddButton />
    </>
  );
}

/** Runs tests and knows which rows are being tested. */
function useTests() {
  const t = useTexts();
  const [testing, setTesting] = useState<ReadonlySet<number>>(new Set());
  const run = useCallback(async (id: number) => {
    setTesting((current) => new Set(current).add(id));
    try {
      return await testChannel(id);
    } finally {
      setTesting((current) => new Set([...current].filter((other) => other !== id)));
    }
  }, []);
  const test = useCallback(
    ({ id, name }: Channel) => {
      run(id).then(
        (time) => toast("success", t("testGood", { name, seconds: time.toFixed(2) })),
        (problem: unknown) => toast("error", t("testBad", { name, message: problemText(problem) })),
      );
    },
    [run, t],
  );
  return { testing, run, test };
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
      tag: state.tag,
    }),
  );
  const types = useQuery(typesQuery).data;
  const byType = useMemo(() => new Map(types?.map((type) => [type.type, type])), [types]);
  const { testing, run, test } = useTests();
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  const columns = useMemo(() => channelColumns({ t, types: byType, testing }), [t, byType, testing]);
  const edit = (channel: Channel) => void navigate({ pathname: `/channel/edit/${channel.id}`, search });
  const isEmpty = data?.rows.length === 0 && !list.isFiltered && page === 1;
  useKeys("c", () => void navigate({ pathname: "/channel/add", search }));

  return (
    <Page title={t("title")} actions={<Actions />}>
      <JobBars />
      {!isEmpty && (
        <Filters
          list={list}
          hasTags={data?.rows.some(({ tag }) => tag) ?? false}
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
      <BulkActions rows={data?.rows ?? []} selected={selected} select={setSelected} test={run} />
      <Outlet />
    </Page>
  );
}
