import {
  CHANNEL_STATUS,
  channelList,
  logStat,
  logStatSelf,
  ROLE,
  selfGet,
  showQuota,
  status,
  type Client,
} from "@fairway/wire";
import { rowsUpTo } from "../paging.ts";

/** The state of a server, as `status` prints it and the live screen draws it. */
export interface Overview {
  readonly server: string;
  readonly name: string;
  readonly version: string;
  /** Epoch seconds. */
  readonly startedAt: number;
  readonly user: string;
  readonly role: number;
  readonly balance: string;
  readonly quota: number;
  /** Requests and tokens of the last minute; undefined if a compatible gateway does not count them. */
  readonly rpm: number | undefined;
  readonly tpm: number | undefined;
  /** Undefined for users, who see no channels. */
  readonly channels: { readonly enabled: number; readonly disabled: number; readonly autoDisabled: number } | undefined;
}

export async function loadOverview(client: Client, server: string, signal: AbortSignal): Promise<Overview> {
  const [{ data: info }, { data: self }] = await Promise.all([
    client.call(status, { signal }),
    client.call(selfGet, { signal }),
  ]);
  const isAdmin = self.role >= ROLE.admin;
  const { data: rates } = isAdmin
    ? await client.call(logStat, { query: {}, signal })
    : await client.call(logStatSelf, { query: {}, signal });
  const style = { quotaPerUnit: info.quota_per_unit, inCurrency: info.display_in_currency };
  return {
    server,
    name: info.system_name,
    version: info.version,
    startedAt: info.start_time,
    user: self.username,
    role: self.role,
    balance: showQuota(self.quota, style),
    quota: self.quota,
    rpm: rates.rpm,
    tpm: rates.tpm,
    channels: isAdmin ? await channelCounts(client, signal) : undefined,
  };
}

/** Returns the line about the last minute. */
export function rateText({ rpm, tpm }: Pick<Overview, "rpm" | "tpm">): string {
  return rpm === undefined || tpm === undefined ? "not counted by this gateway" : `${rpm} requests, ${tpm} tokens`;
}

/** Returns the units of quota in a US dollar. */
export async function quotaPerUnit(client: Client): Promise<number> {
  return (await client.call(status, {})).data.quota_per_unit;
}

async function channelCounts(client: Client, signal: AbortSignal): Promise<NonNullable<Overview["channels"]>> {
  const states = [CHANNEL_STATUS.enabled, CHANNEL_STATUS.disabledByHand, CHANNEL_STATUS.disabledBySystem];
  const counts = await Promise.all(states.map((state) => countChannels(client, state, signal)));
  const [enabled, disabled, autoDisabled] = counts.includes(undefined)
    ? await countAll(client, states, signal)
    : counts;
  return { enabled: enabled ?? 0, disabled: disabled ?? 0, autoDisabled: autoDisabled ?? 0 };
}

/** Returns the count; undefined if a compatible gateway counts no rows, or lists channels of every status. */
async function countChannels(client: Client, state: number, signal: AbortSignal): Promise<number | undefined> {
  const { data, total } = await client.call(channelList, { query: { status: String(state), page_size: 1 }, signal });
  return data.every(({ status: found }) => found === state) ? total : undefined;
}

async function countAll(client: Client, states: readonly number[], signal: AbortSignal): Promise<number[]> {
  const { rows } = await rowsUpTo(Infinity, (page) => client.call(channelList, { query: page, signal }));
  return states.map((state) => rows.filter(({ status: found }) => found === state).length);
}
