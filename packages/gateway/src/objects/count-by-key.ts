import type { RunningRequest } from "../relay/reservation/running.ts";
import { markKey, type HashKey } from "../snapshot/key-marks.ts";

interface CountOptions {
  readonly channelId: number;
  readonly hashKey: HashKey;
}

/** Returns how many of the requests a channel serves, by the mark of the key that each uses. */
export function countByKey(
  requests: readonly Pick<RunningRequest, "tried">[],
  { channelId, hashKey }: CountOptions,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { tried } of requests) {
    const { channel, keyIndex } = tried?.at(-1)?.target ?? {};
    if (channel?.id !== channelId || keyIndex === undefined) continue;
    const mark = markKey(channel.keys[keyIndex] ?? "", hashKey);
    counts.set(mark, (counts.get(mark) ?? 0) + 1);
  }
  return counts;
}
