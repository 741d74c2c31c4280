import {
  CHANNEL_STATUS,
  channelFilters,
  channelFiltersForget,
  channelGet,
  channelHealth,
  channelObjects,
  channelObjectsRebind,
  channelTest,
  LOG_TYPE,
  logList,
  type LearnedFilter,
} from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call, request } from "../../../lib/http.ts";
import { queryKeys } from "../../../lib/query-keys.ts";
import { queryClient } from "../../../lib/query.ts";
import { setChannelStatus } from "../api.ts";
import type { Channel } from "@fairway/wire";

const REFRESH_MS = 30_000;
const FAILURES = 8;

/** The current channel; its form reads its own copy. */
export function shownChannelQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.channels.shown(id),
    queryFn: async ({ signal }) => {
      const channel = await call(channelGet, { params: { id }, signal });
      return { rows: [channel], total: 1 };
    },
    refetchInterval: REFRESH_MS,
  });
}

export const healthQuery = queryOptions({
  queryKey: queryKeys.channels.health,
  queryFn: ({ signal }) => call(channelHealth, { signal }),
  refetchInterval: REFRESH_MS,
});

/** Names that the channel's host refused, as the answering replica learned them. */
export function filtersQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.channels.filters(id),
    queryFn: ({ signal }) => call(channelFilters, { params: { id }, signal }),
    refetchInterval: REFRESH_MS,
  });
}

/** Forgets all of them, or one. */
export async function forgetFilters(id: number, one?: LearnedFilter): Promise<void> {
  await call(channelFiltersForget, { params: { id }, query: { model: one?.model, name: one?.name } });
  await queryClient.invalidateQueries({ queryKey: queryKeys.channels.filters(id) });
}

/** The newest calls that failed at this channel. */
export function failuresQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.logs.failuresByChannel(id),
    queryFn: ({ signal }) =>
      call(logList, { query: { p: 1, page_size: FAILURES, type: LOG_TYPE.error, channel: id }, signal }),
    refetchInterval: REFRESH_MS,
  });
}

/** Tests one model; returns the milliseconds that its answer took. */
export async function testModel(id: number, model: string): Promise<number> {
  const { siblings } = await request(channelTest, { params: { id }, query: { model } });
  return Math.round(Number(siblings.time ?? 0) * 1000);
}

/** Tests one key, also if it is switched off; returns the milliseconds that its answer took. */
export async function testKey(id: number, index: number): Promise<number> {
  const { siblings } = await request(channelTest, { params: { id }, query: { key_index: String(index) } });
  return Math.round(Number(siblings.time ?? 0) * 1000);
}

const DRAIN_MS = 2_000;

/** What the accounts of the channel's keys hold, and the requests that run with them. */
export function accountsQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.channels.accounts(id),
    queryFn: ({ signal }) => call(channelObjects, { params: { id }, signal }),
    refetchInterval: DRAIN_MS,
    gcTime: 0,
  });
}

/** Declares that both keys open the same account, whose files and batches the second one reads from now on. */
export async function bindObjects(id: number, from: number, to: number): Promise<void> {
  const accounts = await call(channelObjects, { params: { id } });
  const mark = (index: number) => accounts.find((one) => one.key_index === index)?.mark ?? "";
  await call(channelObjectsRebind, { params: { id }, body: { from_mark: mark(from), to_mark: mark(to) } });
  await queryClient.invalidateQueries({ queryKey: queryKeys.channels.accounts(id) });
}

export async function switchChannel(channel: Channel): Promise<void> {
  await setChannelStatus(channel, channel.status !== CHANNEL_STATUS.enabled);
  await queryClient.invalidateQueries({ queryKey: queryKeys.channels.keys(channel.id) });
}
