import type { ChannelRecord, HttpJson } from "./types.ts";

/** Proxy of a channel, from its settings. */
export function readProxy({ setting }: Pick<ChannelRecord, "setting">): string | undefined {
  const { proxy } = setting;
  return typeof proxy === "string" && proxy !== "" ? proxy : undefined;
}

/** Balances, model lists and token exchanges of a channel take its proxy, like its calls. */
export function createChannelHttp(channel: Pick<ChannelRecord, "setting">, http: HttpJson): HttpJson {
  const proxy = readProxy(channel);
  return proxy === undefined ? http : (call) => http({ ...call, proxy });
}
