import { createStore } from "../../lib/store.ts";
import {
  CHANNEL_STATUS,
  channelBalance,
  channelBulk,
  channelCopy,
  channelDelete,
  channelList,
  channelTest,
  channelTypes,
  channelUpdate,
  type Channel,
  type ChannelInput,
} from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { modelsQuery } from "../../session/models.ts";
import { call, request } from "../../lib/http.ts";
import { nowSeconds } from "../../lib/now.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { FRESH_STATIC_MS, queryClient } from "../../lib/query.ts";
import { changeRow, readRows, sortQuery, type Rows } from "../../lib/rows.ts";

export interface ChannelFilter {
  readonly page: number;
  readonly size: number;
  readonly sort: string;
  readonly byId: boolean;
  readonly q: string;
  readonly model: string;
  readonly status: string;
  readonly type: string;
  readonly group: string;
  readonly tag: string;
}

function readChannels(filter: ChannelFilter, signal?: AbortSignal): Promise<Rows<Channel>> {
  const { page, size, byId, q, sort, ...limits } = filter;
  return readRows(channelList, {
    query: { ...limits, p: page - 1, page_size: size, id_sort: byId, keyword: q, ...sortQuery(sort) },
    signal,
  });
}

export function channelsQuery(filter: ChannelFilter) {
  return queryOptions({
    queryKey: queryKeys.channels.list(filter),
    queryFn: ({ signal }) => readChannels(filter, signal),
    placeholderData: keepPreviousData,
  });
}

export const typesQuery = queryOptions({
  queryKey: queryKeys.channels.types,
  queryFn: ({ signal }) => call(channelTypes, { signal }),
  staleTime: FRESH_STATIC_MS,
});

export async function refreshChannels(): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: queryKeys.channels.lists }),
    queryClient.invalidateQueries({ queryKey: queryKeys.channels.pauses }),
    queryClient.invalidateQueries({ queryKey: queryKeys.channels.managed }),
    queryClient.invalidateQueries({ queryKey: modelsQuery.queryKey }),
    queryClient.invalidateQueries({ queryKey: queryKeys.pricing.all }),
    queryClient.invalidateQueries({ queryKey: queryKeys.playground.models }),
  ]);
}

type Change = Pick<ChannelInput, "status" | "priority" | "weight">;

/** Changes single values of a row and shows them at once. */
export function patchChannel(channel: Channel, change: Change): Promise<void> {
  return changeRow<Channel>({
    key: queryKeys.channels.lists,
    row: channel,
    patch: change as Partial<Channel>,
    send: () => call(channelUpdate, { body: { ...change, id: channel.id } }),
  });
}

export function setChannelStatus(channel: Channel, isOn: boolean): Promise<void> {
  return patchChannel(channel, { status: isOn ? CHANNEL_STATUS.enabled : CHANNEL_STATUS.disabledByHand });
}

/** Channels whose last test from this page failed: a fast failure is not a good response time. */
export const failedTests = createStore<ReadonlySet<number>>(new Set());

function noteTest(id: number, isGood: boolean): void {
  const others = [...failedTests.read()].filter((other) => other !== id);
  failedTests.write(new Set(isGood ? others : [...others, id]));
}

/** Sends a small request through the channel; returns the seconds it took. */
export async function testChannel(id: number): Promise<number> {
  const { siblings } = await request(channelTest, { params: { id } }).catch((problem: unknown) => {
    noteTest(id, false);
    void queryClient.invalidateQueries({ queryKey: queryKeys.channels.lists });
    throw problem;
  });
  noteTest(id, true);
  const seconds = Number(siblings.time ?? 0);
  const tested = { response_time: Math.round(seconds * 1000), test_time: nowSeconds() };
  queryClient.setQueriesData<Rows<Channel>>(
    { queryKey: queryKeys.channels.lists },
    (page) => page && { ...page, rows: page.rows.map((row) => (row.id === id ? { ...row, ...tested } : row)) },
  );
  return seconds;
}

export async function refreshBalance(channel: Channel): Promise<void> {
  await call(channelBalance, { params: { id: channel.id } });
  await refreshChannels();
}

export async function copyChannel(channel: Channel): Promise<Channel> {
  const copy = await call(channelCopy, { params: { id: channel.id } });
  await refreshChannels();
  return copy;
}

/** `isForced` deletes it although batches run there. */
export async function deleteChannel(channel: Channel, isForced: boolean): Promise<void> {
  await call(channelDelete, { params: { id: channel.id }, query: isForced ? { force: true } : {} });
  await refreshChannels();
}

/** Deletes channels and reports each result; a call without an answer may have deleted some. */
export async function deleteMany(ids: readonly number[]) {
  try {
    return await call(channelBulk, { body: { ids: [...ids], action: "delete" } });
  } finally {
    await refreshChannels();
  }
}

/** Changes channels and reports each result; the caller reloads the list. */
export function patchMany({ ids, patch }: { readonly ids: readonly number[]; readonly patch: ChannelInput }) {
  return call(channelBulk, { body: { ids: [...ids], action: "patch", patch } });
}
