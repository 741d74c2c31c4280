import {
  CHANNEL_STATUS,
  channelList,
  formatTime,
  logStat,
  logStatSelf,
  ROLE,
  selfGet,
  showQuota,
  status,
  type Client,
} from "@fairway/wire";
import type { Io } from "../../core/command-context.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { printOne, type Output } from "../../print/output.ts";
import type { Session } from "../../session/session.ts";

/** One look at a server, as `status` prints it and the live screen draws it. */
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

export interface StatusOptions {
  readonly watch?: boolean;
  readonly interval: number;
}

/** One look, or a screen that keeps looking. */
export async function showStatus(
  { client, profile }: Session,
  options: StatusOptions,
  output: Output,
  { isTerminal }: Io,
): Promise<void> {
  if (options.watch) {
    if (!isTerminal)
      throw new CliError("--watch needs a terminal", EXIT.usage, "use `fairway status -o json` in scripts");
    return (await import("./status-screen.tsx")).showStatus({
      client,
      server: profile.server,
      intervalMs: options.interval * 1000,
    });
  }
  const overview = await overviewOf(client, profile.server, new AbortController().signal);
  const { channels } = overview;
  const words = {
    server: `${overview.server} (${overview.name} ${overview.version}, since ${formatTime(overview.startedAt)})`,
    user: `${overview.user}, balance ${overview.balance}`,
    "last minute": `${overview.rpm} requests, ${overview.tpm} tokens`,
    ...(channels
      ? {
          channels: `${channels.enabled} enabled, ${channels.disabled} disabled, ${channels.autoDisabled} auto-disabled`,
        }
      : {}),
  };
  await printOne(output, overview, { words });
}
