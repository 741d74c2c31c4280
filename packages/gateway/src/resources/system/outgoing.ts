import type { OptionValues, OutgoingWay } from "@fairway/wire";
import type { Network } from "../../lib/net/network.ts";
import { readProxy } from "../../providers/core/proxy.ts";
import { plainUrl } from "../../providers/core/route-url.ts";
import type { ChannelRecord } from "../../providers/core/types.ts";
import { providerByType } from "../../providers/registry.ts";

/** Addresses of services that variables name; undefined or "" where a service is not used. */
export type NamedServices = Readonly<Record<string, string | undefined>>;

export interface OutgoingDeps {
  readonly network: Network;
  readonly services: NamedServices;
  readonly snapshots: {
    current(): {
      readonly channels: ReadonlyMap<number, ChannelRecord>;
      readonly options: OptionValues;
    };
  };
}

/** Lists which proxy each server takes that channels and services are called at; by part and host. */
export function listOutgoingWays({ network, services, snapshots }: OutgoingDeps): OutgoingWay[] {
  const { channels, options } = snapshots.current();
  const found = new Map<string, OutgoingWay>();
  const add = (part: string, address: string | URL | undefined, own?: string) => {
    const url = URL.parse(String(address ?? ""));
    if (!url) return;
    const proxy = own ?? network.findProxy(url);
    const way = { part, host: url.host, proxy: proxy === undefined ? null : new URL(proxy).host };
    found.set(`${way.part} ${way.host} ${way.proxy}`, way);
  };
  for (const channel of channels.values()) add("channels", findAddress(channel), readProxy(channel));
  for (const [part, address] of Object.entries({ ...services, ...listOptionServices(options) })) add(part, address);
  return [...found.values()].sort((a, b) => a.part.localeCompare(b.part) || a.host.localeCompare(b.host));
}

/** A channel that cannot be called has no address. */
function findAddress(channel: ChannelRecord): string | URL | undefined {
  try {
    return plainUrl(providerByType(channel.type), channel, "/");
  } catch {
    return undefined;
  }
}

function listOptionServices(options: OptionValues): NamedServices {
  return {
    guardrail: options.GuardrailEnabled ? options.GuardrailUrl : undefined,
    payments: options.StripeSecretKey === "" ? undefined : options.StripeApiUrl,
    files: options.WorkerUrl,
    updates: options.UpdateFeedUrl,
  };
}
