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
  /** Requests and tokens of the last minute. */
  readonly rpm: number;
  readonly tpm: number;
  /** Undefined for users, who see no channels. */
  readonly channels: { readonly enabled: number; readonly disabled: number; readonly autoDisabled: number } | undefined;
}

export async function overviewOf(client: Client, server: string, signal: AbortSignal): Promise<Overview> {
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
    rpm: rates.rpm,
    tpm: rates.tpm,
    channels: isAdmin ? await channelCounts(client, signal) : undefined,
  };
}

/** Units of quota that make a US dollar. */
export async function quotaPerUnit(client: Client): Promise<number> {
  return (await client.call(status, {})).data.quota_per_unit;
}

async function channelCounts(client: Client, signal: AbortSignal): Promise<NonNullable<Overview["channels"]>> {
  const count = async (state: number) =>
    (await client.call(channelList, { query: { status: String(state), page_size: 1 }, signal })).total ?? 0;
  const [enabled, disabled, autoDisabled] = await Promise.all([
    count(CHANNEL_STATUS.enabled),
    count(CHANNEL_STATUS.disabledByHand),
    count(CHANNEL_STATUS.disabledBySystem),
  ]);
  return { enabled, disabled, autoDisabled };
}
