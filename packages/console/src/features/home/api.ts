import {
  channelDelete,
  channelList,
  homePage,
  LOG_TYPE,
  logListSelf,
  notice,
  splitList,
  tokenList,
  type Channel,
} from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { modelsQuery } from "../../session/models.ts";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { FRESH_STATIC_MS, queryClient } from "../../lib/query.ts";
import { readRows } from "../../lib/rows.ts";

/** The model of the channel that a new installation includes, so that a first request needs no provider. */
export const DEMO_MODEL = "fairway-demo";

const RECENT = 5;

export const tokenCountQuery = queryOptions({
  queryKey: queryKeys.tokens.count,
  queryFn: ({ signal }) => readRows(tokenList, { query: { p: 0, size: 1 }, signal }),
});

export const recentQuery = queryOptions({
  queryKey: queryKeys.logs.recent,
  queryFn: ({ signal }) => call(logListSelf, { query: { p: 1, page_size: RECENT, type: LOG_TYPE.consume }, signal }),
});

export const failuresQuery = queryOptions({
  queryKey: queryKeys.logs.failures,
  queryFn: ({ signal }) => call(logListSelf, { query: { p: 1, page_size: RECENT, type: LOG_TYPE.error }, signal }),
});

/** The operator's replacement of this page; "" means the built-in page. */
export const ownHomeQuery = queryOptions({
  queryKey: queryKeys.content.home,
  queryFn: async ({ signal }) => (await call(homePage, { signal })).trim(),
  staleTime: FRESH_STATIC_MS,
});

export const noticeQuery = queryOptions({
  queryKey: queryKeys.content.notice,
  queryFn: async ({ signal }) => (await call(notice, { signal })).trim(),
  staleTime: FRESH_STATIC_MS,
});

function isDemo(channel: Channel): boolean {
  const models = splitList(channel.models);
  return models.length === 1 && models[0] === DEMO_MODEL;
}

/** The channel that a new installation includes, as long as it exists. */
export const demoQuery = queryOptions({
  queryKey: queryKeys.channels.demo,
  queryFn: async ({ signal }) => {
    const { rows } = await readRows(channelList, { query: { p: 0, page_size: 2, model: DEMO_MODEL }, signal });
    return { rows, demo: rows.find(isDemo) ?? null };
  },
});

/** Whether a real provider is connected. */
export const hasProviderQuery = queryOptions({
  queryKey: queryKeys.channels.providers,
  queryFn: async ({ signal }) => {
    const { rows, total = rows.length } = await readRows(channelList, { query: { p: 0, page_size: 2 }, signal });
    return { rows, total, hasProvider: rows.some((channel) => !isDemo(channel)) };
  },
});

export async function removeDemo(channel: Channel): Promise<void> {
  await call(channelDelete, { params: { id: channel.id } });
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: queryKeys.channels.all }),
    queryClient.invalidateQueries({ queryKey: modelsQuery.queryKey }),
  ]);
}
