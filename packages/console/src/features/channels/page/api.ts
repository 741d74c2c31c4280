import {
  CHANNEL_STATUS,
  channelFilters,
  channelFiltersForget,
  channelGet,
  channelHealth,
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

export async function switchChannel(channel: Channel): Promise<void> {
  await setChannelStatus(channel, channel.status !== CHANNEL_STATUS.enabled);
  await queryClient.invalidateQueries({ queryKey: queryKeys.channels.keys(channel.id) });
}
