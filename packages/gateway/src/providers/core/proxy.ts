import type { ChannelRecord, HttpJson } from "./types.ts";

/** Reads a channel's proxy from its settings. */
export function readProxy({ setting }: Pick<ChannelRecord, "setting">): string | undefined {
  const { proxy } = setting;
  return typeof proxy === "string" && proxy !== "" ? proxy : undefined;
}

/**
 * Returns an `HttpJson` through the channel's proxy, for balances, model lists and token exchanges; calls use it too.
 */
export function createChannelHttp(channel: Pick<ChannelRecord, "setting">, http: HttpJson): HttpJson {
  const proxy = readProxy(channel);
  return proxy === undefined ? http : (call) => http({ ...call, proxy });
}
