import type { RequestSpec } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import { joinUrl, withoutEnd } from "./join-url.ts";
import type { ChannelRecord, FileService, ProviderAdapter, UpstreamRoute } from "./types.ts";

export interface RouteRequest {
  readonly spec: RequestSpec;
  readonly upstreamModel: string;
  readonly key: string;
}

/**
 * Returns the address of a route's request, before the client's query is added. Both the guard of stored keys, which
 * checks the address, and the relay, which calls it, use this function. Throws `upstream_connect_failed` if the channel
 * has no address: nothing was sent, so another channel is tried.
 */
export function routeUrl(
  provider: ProviderAdapter,
  route: Pick<UpstreamRoute, "path">,
  channel: ChannelRecord,
  { spec, upstreamModel, key }: RouteRequest,
): URL {
  const path = typeof route.path === "string" ? route.path : route.path(spec, upstreamModel, channel, key);
  return joinBase(provider, findBase(provider, channel, key, upstreamModel), path);
}

/** Returns the address of a path of the vendor's store of files; absolute paths stay. */
export function storeUrl(provider: ProviderAdapter, channel: ChannelRecord, key: string, path: string): URL {
  return joinBase(provider, findBase(provider, channel, key, ""), path);
}

/** Returns the path of the collection of files below the base URL. */
export function resolveFilesPath({ path }: FileService, channel: ChannelRecord): string {
  return resolvePath(path, channel);
}

/** Returns the path of the containers below the base URL; undefined if clients reach none. */
export function resolveContainersPath({ containersPath }: FileService, channel: ChannelRecord): string | undefined {
  return containersPath === undefined ? undefined : resolvePath(containersPath, channel);
}

function resolvePath(path: FileService["path"], channel: ChannelRecord): string {
  return typeof path === "string" ? path : path(channel);
}

/** A key is read for its region only where the channel has no base URL of its own. */
function findBase(provider: ProviderAdapter, channel: ChannelRecord, key: string, model: string): string {
  return withoutEnd(channel.baseUrl, provider.pastedEnd) || provider.base?.(channel, key, model) || provider.baseUrl;
}

function joinBase(provider: ProviderAdapter, base: string, path: string): URL {
  if (base === "" && !/^[a-z]+:\/\//.test(path))
    throw new AppError("upstream_connect_failed", { message: "The channel has no base URL." });
  return joined(base, path, provider.gatewayDrops);
}

/** Returns the address of a call that no route describes, such as a call of a task channel. */
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
