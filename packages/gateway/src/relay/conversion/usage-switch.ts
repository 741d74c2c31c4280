// Upstreams that copy the OpenAI protocol without its option for usage in streams answer it with 400. The gateway calls
// them again without the option, and for a while omits it from the start.
import type { ChannelRecord } from "../../providers/core/types.ts";
import type { Failure } from "../upstream/failure.ts";
import type { RelayRequest } from "../request/request.ts";

const REMEMBERED_MS = 3_600_000;
const MAX_REMEMBERED = 1_024;
const NAMED = /stream_options|include_usage/;

/** Until when a channel's upstream is known to refuse the switch, in epoch milliseconds. */
const refusedUntil = new Map<string, number>();

function endpointKey({ id, baseUrl }: ChannelRecord): string {
  return `${id} ${baseUrl}`;
}

/** True if the channel is known to refuse the switch; costs nothing while no upstream refuses. */
export function refusesUsageSwitch(channel: ChannelRecord, now: number): boolean {
  if (refusedUntil.size === 0) return false;
  return (refusedUntil.get(endpointKey(channel)) ?? 0) > now;
}

/** True if the call failed only because the gateway requested usage; the channel gets no such request for an hour. */
export function learnUsageRefusal(
  failure: Failure,
  { spec }: RelayRequest,
  channel: ChannelRecord,
  now: number,
): boolean {
  const { status, message, param } = failure.error;
  const isNamed = (status === 400 || status === 422) && (NAMED.test(message) || NAMED.test(param ?? ""));
  if (!isNamed || !spec.stream || refusesUsageSwitch(channel, now)) return false;
  if (refusedUntil.size >= MAX_REMEMBERED) refusedUntil.clear();
  refusedUntil.set(endpointKey(channel), now + REMEMBERED_MS);
  return true;
}
