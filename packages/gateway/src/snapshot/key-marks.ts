import type { ChannelRecord } from "../providers/core/types.ts";

/** How keys are recognized after their order or number changed. */
export type HashKey = (key: string) => string;

const MARK_LENGTH = 16;

/** Returns the mark by which the account of a key is recognized. */
export function markKey(key: string, hashKey: HashKey): string {
  return hashKey(key).slice(0, MARK_LENGTH);
}

/** True if all keys of the channel open the same account. */
function isOneAccount({ setting }: Pick<ChannelRecord, "setting">): boolean {
  return setting["files_scope"] === "channel";
}

/**
 * Returns the index of the key that opens the account of a mark, also if that key is switched off; -1 = it was removed.
 * Everything that an upstream stores is found by this function: an index that is stored would name another key after an
 * edit of the channel.
 */
export function findMarkedKey(
  channel: Pick<ChannelRecord, "keys" | "usableKeys" | "setting">,
  mark: string,
  hashKey: HashKey,
): number {
  if (channel.keys.length === 0) return -1;
  if (isOneAccount(channel)) return channel.usableKeys?.[0] ?? 0;
  return channel.keys.findIndex((key) => markKey(key, hashKey) === mark);
}
