import {
  channelHealth,
  channelList,
  logFacets,
  logFacetsSelf,
  logList,
  logListSelf,
  logStat,
  logStatSelf,
  LOG_TYPE,
  ROLE,
  selfGet,
  showQuota,
  status,
  systemInfo,
  systemReplicas,
  RECENT_SPAN_CAP,
  usageRecent,
  usageRecentSelf,
  USAGE_SUM_CAP,
  usageStatistics,
  usageStatisticsSelf,
  type Channel,
  type ChannelHealth,
  type Client,
  type LogFacets,
  type LogRow,
  type MoneyStyle,
  type Replica,
  type UsageStatistics,
} from "@fairway/wire";
import { rowsUpTo } from "../paging.ts";

/** Values that do not change between samples. */
export interface ServerIdentity {
  readonly server: string;
  readonly version: string;
  /** Name of the process that answered. */
  readonly instance: string;
  readonly user: string;
  readonly isAdmin: boolean;
  readonly money: MoneyStyle;
}

/** The state of the server at one moment. */
export interface Sample {
  /** Epoch seconds. */
  readonly at: number;
  readonly balance: string;
  /** Calls and tokens of the last minute. */
  readonly rpm: number;
  readonly tpm: number;
  /** Best priority first; none for users, who see no channels. */
  readonly channels: readonly Channel[];
  readonly health: readonly ChannelHealth[];
  /** Calls of the last minute by channel, model and user. */
  readonly facets: Pick<LogFacets, "channels" | "models" | "users">;
  readonly recent: readonly LogRow[];
  /** Usage of the last minutes, or of hours with the current one; by channel for administrators. */
  readonly usage: UsageStatistics;
  /** Processes that answer, as they last reported themselves; none for users. */
  readonly replicas: readonly Replica[];
}

const RECENT = 30;

export async function loadServerIdentity(client: Client, server: string): Promise<ServerIdentity> {
  const [{ data: info }, { data: self }, { data: system }] = await Promise.all([
    client.call(status, {}),
    client.call(selfGet, {}),
    client.call(systemInfo, {}),
  ]);
  return {
    server,
    version: info.version,
    instance: system.instance,
    user: self.username,
    isAdmin: self.role >= ROLE.admin,
    money: { quotaPerUnit: info.quota_per_unit, inCurrency: info.display_in_currency },
  };
}

/** The gateway sums the last minutes at most this often; sums of hours change slowly. */
const RECENT_EVERY_SECONDS = 5;
const HOURS_EVERY_SECONDS = 10;

/** `spanSeconds` is the length of the time that is summed. */
export type Sampler = (nowSeconds: number, signal: AbortSignal, spanSeconds: number) => Promise<Sample>;

/** Administrators see all calls, other users their own. */
export function createSampler(client: Client, place: ServerIdentity): Sampler {
  let usage: UsageStatistics | undefined;
  let readAt = 0;
  let readSpan = 0;
  return async (nowSeconds, signal, spanSeconds) => {
    const every = spanSeconds <= RECENT_SPAN_CAP ? RECENT_EVERY_SECONDS : HOURS_EVERY_SECONDS;
    if (!usage || nowSeconds - readAt >= every || readSpan !== spanSeconds) {
      usage = await loadUsage(client, place, { nowSeconds, spanSeconds, signal });
      readAt = nowSeconds;
      readSpan = spanSeconds;
    }
    return { ...(await takeSample(client, place, nowSeconds, signal)), usage };
  };
}

interface Period {
  readonly nowSeconds: number;
  readonly spanSeconds: number;
  readonly signal: AbortSignal;
}

/** Loads the last minutes to the second, longer spans by the hour. */
async function loadUsage(
  client: Client,
  { isAdmin }: ServerIdentity,
  { nowSeconds, spanSeconds, signal }: Period,
): Promise<UsageStatistics> {
  const who = { by: isAdmin ? "channel" : "all", limit: USAGE_SUM_CAP };
  if (spanSeconds <= RECENT_SPAN_CAP) {
    const query = { ...who, seconds: spanSeconds };
    return (await client.call(isAdmin ? usageRecent : usageRecentSelf, { query, signal })).data;
  }
  const query = { ...who, start_timestamp: nowSeconds - spanSeconds };
  return (await client.call(isAdmin ? usageStatistics : usageStatisticsSelf, { query, signal })).data;
}

async function takeSample(
  client: Client,
  { isAdmin, money }: ServerIdentity,
  nowSeconds: number,
  signal: AbortSignal,
): Promise<Omit<Sample, "usage">> {
  const facets = isAdmin ? logFacets : logFacetsSelf;
  const minute = (type: number) => client.call(facets, { query: { type, start_timestamp: nowSeconds - 60 }, signal });
  const newest = { type: LOG_TYPE.consume, page_size: RECENT };
  const [{ data: self }, { data: rates }, answered, failed, { data: page }, shared] = await Promise.all([
    client.call(selfGet, { signal }),
    client.call(isAdmin ? logStat : logStatSelf, { query: {}, signal }),
    minute(LOG_TYPE.consume),
    minute(LOG_TYPE.error),
    client.call(isAdmin ? logList : logListSelf, { query: newest, signal }),
    isAdmin ? readShared(client, signal) : UNSEEN,
  ]);
  return {
    at: nowSeconds,
    balance: showQuota(self.quota, money),
    rpm: rates.rpm,
    tpm: rates.tpm,
    facets: sumCalls(answered.data, failed.data),
    recent: page.items,
    ...shared,
  };
}

/** Sums the calls of the last minute, including failed and refused ones, most first. */
function sumCalls(answered: LogFacets, failed: LogFacets): Pick<LogFacets, "channels" | "models" | "users"> {
  return {
    channels: addedUp(answered.channels, failed.channels),
    models: addedUp(answered.models, failed.models),
    users: addedUp(answered.users, failed.users),
  };
}

function addedUp<Value extends { readonly value: string; readonly count: number }>(
  ...parts: readonly (readonly Value[])[]
): Value[] {
  const sums = new Map<string, Value>();
  for (const one of parts.flat()) sums.set(one.value, { ...one, count: one.count + (sums.get(one.value)?.count ?? 0) });
  return [...sums.values()].toSorted((a, b) => b.count - a.count);
}

const UNSEEN = { channels: [], health: [], replicas: [] };

/** Reads what administrators see of the whole installation. */
async function readShared(
  client: Client,
  signal: AbortSignal,
): Promise<Pick<Sample, "channels" | "health" | "replicas">> {
  const [channels, health, replicas] = await Promise.all([
    rowsUpTo(Infinity, (page) => client.call(channelList, { query: page, signal })),
    client.call(channelHealth, { signal }),
    client.call(systemReplicas, { signal }),
  ]);
  return { channels: channels.rows, health: health.data, replicas: replicas.data };
}
