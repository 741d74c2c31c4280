import {
  CHANNEL_STATUS,
  channelHealth,
  channelList,
  jobList,
  systemReplicas,
  usageForecast,
  usageStatistics,
} from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../../lib/http.ts";
import { nowSeconds } from "../../../lib/now.ts";
import { queryKeys } from "../../../lib/query-keys.ts";

const REFRESH_MS = 60_000;
const DAY = 86_400;
const MAX_CHANNELS = 200;
const MAX_DISABLED = 50;

/** Channels in trouble: disabled by the system, skipped, or failing. */
export const troubleQuery = queryOptions({
  queryKey: queryKeys.channels.trouble,
  queryFn: async ({ signal }) => {
    const disabled = { p: 0, page_size: MAX_DISABLED, status: String(CHANNEL_STATUS.disabledBySystem) };
    const usage = { by: "channel", start_timestamp: nowSeconds() - DAY, limit: MAX_CHANNELS };
    const [channels, health, statistics] = await Promise.all([
      call(channelList, { query: disabled, signal }),
      call(channelHealth, { signal }),
      call(usageStatistics, { query: usage, signal }),
    ]);
    return { disabled: channels, health, usage: statistics.subjects };
  },
  refetchInterval: REFRESH_MS,
});

export const forecastQuery = queryOptions({
  queryKey: queryKeys.statistics.forecast,
  queryFn: ({ signal }) => call(usageForecast, { signal }),
  refetchInterval: REFRESH_MS,
});

export const replicasQuery = queryOptions({
  queryKey: queryKeys.system.replicas,
  queryFn: ({ signal }) => call(systemReplicas, { signal }),
  refetchInterval: REFRESH_MS,
});

export const jobsQuery = queryOptions({
  queryKey: queryKeys.jobs.latest,
  queryFn: ({ signal }) => call(jobList, { signal }),
  refetchInterval: REFRESH_MS,
});
