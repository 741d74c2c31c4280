import type { RequestSpec } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import { joinUrl, withoutEnd } from "./join-url.ts";
import type { ChannelRecord, ProviderAdapter, UpstreamRoute } from "./types.ts";

export interface RouteRequest {
  readonly spec: RequestSpec;
  readonly upstreamModel: string;
  readonly key: string;
}

/**
 * The address that a request of a route is sent to, before the client's query is added. Who decides about the address
 * (the guard of stored keys) and who calls it (the relay) both ask this function. Throws `upstream_connect_failed` for
 * a channel that names no address: nothing was sent, so another channel is tried.
 */
export function routeUrl(
  provider: ProviderAdapter,
  route: Pick<UpstreamRoute, "path">,
  channel: ChannelRecord,
  { spec, upstreamModel, key }: RouteRequest,
): URL {
  const path = typeof route.path === "string" ? route.path : route.path(spec, upstreamModel, channel, key);
  const base =
    withoutEnd(channel.baseUrl, provider.pastedEnd) || provider.base?.(channel, key, upstreamModel) || provider.baseUrl;
  if (base === "" && !/^[a-z]+:\/\//.test(path))
    throw new AppError("upstream_connect_failed", { message: "The channel has no base URL." });
  return joined(base, path, provider.gatewayDrops);
}

/** The address of a call that no route describes, such as those of task channels. */
export function plainUrl(provider: ProviderAdapter | undefined, channel: ChannelRecord, path: string): URL {
  return joined(channel.baseUrl || (provider?.baseUrl ?? ""), path, undefined);
}

function joined(base: string, path: string, gatewayDrops: string | undefined): URL {
  try {
    return joinUrl(base, path, gatewayDrops);
  } catch (cause) {
    throw new AppError("upstream_connect_failed", { message: "The channel's base URL is not an address.", cause });
  }
}
