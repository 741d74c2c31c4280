import type { ChannelRecord, SigningContext, UpstreamCall } from "./types.ts";

/** `Authorization: Bearer KEY`; servers without a key get no header. */
export function bearer(call: UpstreamCall, _channel: ChannelRecord, { key }: SigningContext): void {
  if (key !== "") call.headers["authorization"] = `Bearer ${key}`;
}
