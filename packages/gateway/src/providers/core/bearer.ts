import type { ChannelRecord, SigningContext, UpstreamCall } from "./types.ts";

/** Sets `Authorization: Bearer KEY`; if the channel has no key, no header is set. */
export function bearer(call: UpstreamCall, _channel: ChannelRecord, { key }: SigningContext): void {
  if (key !== "") call.headers["authorization"] = `Bearer ${key}`;
}
