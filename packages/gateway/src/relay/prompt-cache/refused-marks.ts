// Upstreams that do not know the marks of prompt caches answer them with 400. The call is sent again without them, and
// for a while the channel gets none. Each process learns on its own.
import type { ChannelRecord } from "../../providers/core/types.ts";

const REMEMBERED_MS = 600_000;
const MAX_REMEMBERED = 1_024;
const NAMED = /cache_control|cachePoint|prompt_cache/;

type NamedChannel = Pick<ChannelRecord, "id" | "baseUrl">;

/** Until when a channel's upstream is known to refuse marks, in epoch milliseconds. */
const refusedUntil = new Map<string, number>();

function buildKey({ id, baseUrl }: NamedChannel): string {
  return `${id} ${baseUrl}`;
}

/** True if the channel is known to refuse marks. */
export function refusesMarks(channel: NamedChannel, now: number): boolean {
  return refusedUntil.size > 0 && (refusedUntil.get(buildKey(channel)) ?? 0) > now;
}

/** True if an answer names the marks as its reason; the channel gets none for ten minutes. */
export function learnMarksRefusal(
  { status, message, param }: { readonly status: number; readonly message: string; readonly param: string | undefined },
  channel: NamedChannel,
  now: number,
): boolean {
  if (status !== 400 || !(NAMED.test(message) || NAMED.test(param ?? ""))) return false;
  if (refusedUntil.size >= MAX_REMEMBERED) refusedUntil.clear();
  refusedUntil.set(buildKey(channel), now + REMEMBERED_MS);
  return true;
}
