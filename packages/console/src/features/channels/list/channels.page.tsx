import { CHANNEL_STATUS, type Channel } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useCallback, useMemo, useState } from "react";
import { Outlet, useLocation, useNavigate } from "react-router";
import { useKeys } from "../../../lib/keys.ts";
import { queryClient } from "../../../lib/query.ts";
import { stored } from "../../../lib/storage.ts";
import { IconButton } from "../../../ui/display/icon-button.tsx";
import { Icon } from "../../../ui/display/icon.tsx";
import { EmptyTeach } from "../../../ui/feedback/empty.tsx";
import { problemText, toast } from "../../../ui/feedback/toaster.ts";
import { AddLink, ListPage } from "../../../ui/list/list-page.tsx";
import { useList } from "../../../ui/grid/use-list.ts";
import { useSelection } from "../../../ui/grid/use-selection.ts";
import { lateNeeded } from "../../../ui/late/late.tsx";
import { useRowPeek } from "../../../ui/peek/use-peek.ts";
import { channelsQuery, refreshChannels, testChannel, typesQuery } from "../api.ts";
import { BulkActions } from "../bulk/bulk-actions.tsx";
import { channelColumns } from "./columns.tsx";
import { DEFAULTS, Filters } from "./filters.tsx";
import { PauseBars } from "./pause-bars.tsx";
import { JobBars, PageMenu } from "./page-menu.tsx";
import { trafficQuery } from "./traffic.ts";
import { RowActions } from "./row-actions.tsx";
import { useTexts } from "../texts.ts";

const ChannelPeek = lateNeeded(async () => (await import("../peek/channel-peek.tsx")).ChannelPeek);

function Actions() {
  const t = useTexts();
  return (
    <>
      <IconButton variant="outline" label={t("refresh")} onClick={() => void refreshChannels()}>
        <Icon name="refresh" />
      </IconButton>
      <PageMenu />
      <AddLink to="/channel/add" label={t("add")} />
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
  const { sort, q, model, status, type, group, tag } = state;
  const filter = { byId, sort, q, model, status, type, group, tag };
  const { data, error, isFetching, refetch } = useQuery(channelsQuery({ ...filter, page, size }));
  const types = useQuery(typesQuery).data;
  const byType = useMemo(() => new Map(types?.map((type) => [type.type, type])), [types]);
  const { testing, run, test } = useTests();
  const { selection, chosen, select } = useSelection({
    rows: data?.rows,
    total: data?.total,
    filter: list.filterKey,
    getRowId: (channel) => channel.id,
    read: (wanted, rows) => queryClient.fetchQuery(channelsQuery({ ...filter, page: wanted, size: rows })),
  });
  const traffic = useQuery(trafficQuery).data;
  const columns = useMemo(() => channelColumns({ t, types: byType, testing, traffic }), [t, byType, testing, traffic]);
  const edit = (channel: Channel) => void navigate({ pathname: `/channel/edit/${channel.id}`, search });
  const peek = useRowPeek(data?.rows);
  const isEmpty = data?.rows.length === 0 && !list.isFiltered && page === 1;
  useKeys("c", () => void navigate({ pathname: "/channel/add", search }));

  return (
    <ListPage
      title={t("title")}
      pageActions={<Actions />}
      notice={
        <>
          <PauseBars />
          <JobBars />
        </>
      }
      filters={
        !isEmpty && (
          <Filters
            list={list}
            hasTags={data?.rows.some(({ tag }) => tag) ?? false}
            byId={byId}
            onById={(next) => {
              stored.idSort.write(next ? "true" : "false");
              setById(next);
            }}
          />
        )
      }
      list={list}
      query={{ data, error, isFetching, refetch }}
      columns={columns}
      rowId={(channel) => channel.id}
      rowName={(channel) => channel.name}
      selection={selection}
      isMuted={(channel) => channel.status !== CHANNEL_STATUS.enabled}
      onOpen={peek.open}
      opened={peek.openedId}
      keys={{ e: edit, t: test }}
      actions={(channel) => (
        <RowActions
          channel={channel}
          type={byType.get(channel.type)}
          isTesting={testing.has(channel.id)}
          onTest={test}
        />
      )}
      teach={
        <EmptyTeach icon="channel" title={t("emptyTitle")} body={t("emptyBody")}>
          <AddLink to="/channel/add" label={t("add")} />
        </EmptyTeach>
      }
    >
      <BulkActions chosen={chosen} select={select} test={run} />
      <Suspense>{peek.key !== "" && <ChannelPeek peek={peek} />}</Suspense>
      <Outlet />
    </ListPage>
  );
}
