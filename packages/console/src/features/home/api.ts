import {
  channelDelete,
  channelList,
  homePage,
  logListSelf,
  logStatSelf,
  notice,
  splitList,
  tokenList,
  type Channel,
} from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { modelsQuery } from "../../session/models.ts";
import { call } from "../../lib/http.ts";
import { nowSeconds } from "../../lib/now.ts";
import { FRESH_STATIC_MS, queryClient } from "../../lib/query.ts";
import { readRows } from "../../lib/rows.ts";

/** The model of the channel that a new installation brings along, so that a first request needs no provider. */
export const DEMO_MODEL = "fairway-demo";

const RECENT = 5;

export const tokenCountQuery = queryOptions({
  queryKey: ["tokens", "list", "count"],
  queryFn: ({ signal }) => readRows(tokenList, { query: { p: 0, size: 1 }, signal }),
});

export const recentQuery = queryOptions({
  queryKey: ["logs", "recent"],
  queryFn: ({ signal }) => call(logListSelf, { query: { p: 1, page_size: RECENT, type: 2 }, signal }),
});

export const todayQuery = queryOptions({
  queryKey: ["logs", "today"],
  queryFn: ({ signal }) => {
    const midnight = Math.floor(new Date(nowSeconds() * 1000).setHours(0, 0, 0, 0) / 1000);
    return call(logStatSelf, { query: { start_timestamp: midnight }, signal });
  },
});

/** What the operator wrote in place of this page; "" is the page that comes with the console. */
export const ownHomeQuery = queryOptions({
  queryKey: ["content", "home"],
  queryFn: async ({ signal }) => (await call(homePage, { signal })).trim(),
  staleTime: FRESH_STATIC_MS,
});

export const noticeQuery = queryOptions({
  queryKey: ["content", "notice"],
  queryFn: async ({ signal }) => (await call(notice, { signal })).trim(),
  staleTime: FRESH_STATIC_MS,
});

function isDemo(channel: Channel): boolean {
  const models = splitList(channel.models);
  return models.length === 1 && models[0] === DEMO_MODEL;
}

/** What an administrator still has to do: whether a real provider is connected, and the demo channel if it is there. */
export const channelsQuery = queryOptions({
  queryKey: ["channels", "list", "setup"],
  queryFn: async ({ signal }) => {
    const [all, demo] = await Promise.all([
      readRows(channelList, { query: { p: 0, page_size: 2 }, signal }),
      readRows(channelList, { query: { p: 0, page_size: 2, model: DEMO_MODEL }, signal }),
    ]);
    const found = demo.rows.find(isDemo);
    const count = all.total ?? all.rows.length;
    return { rows: all.rows, total: count, demo: found, hasProvider: count > (found ? 1 : 0) };
  },
});

export async function removeDemo(channel: Channel): Promise<void> {
  await call(channelDelete, { params: { id: channel.id } });
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ["channels"] }),
    queryClient.invalidateQueries({ queryKey: modelsQuery.queryKey }),
  ]);
}
