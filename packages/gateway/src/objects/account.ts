import { AppError } from "../lib/app-error.ts";
import type { ChannelRecord, FileService } from "../providers/core/types.ts";
import { providerByType } from "../providers/registry.ts";
import type { ObjectAccount } from "./stored-object.ts";

/** How keys are recognized after their order or number changed. */
export type HashKey = (key: string) => string;

const MARK_LENGTH = 16;

/** A channel with one of its keys. */
export interface OpenAccount {
  readonly channel: ChannelRecord;
  readonly keyIndex: number;
  readonly service: FileService;
}

/** Returns the mark by which the account of a key is recognized. */
export function markKey(key: string, hashKey: HashKey): string {
  return hashKey(key).slice(0, MARK_LENGTH);
}

/** True if all keys of the channel open the same account. */
function isOneAccount({ setting }: ChannelRecord): boolean {
  return setting["files_scope"] === "channel";
}

/** Returns the account that stores the object; undefined if its channel or its key no longer exists. */
export function findAccount(
  channels: ReadonlyMap<number, ChannelRecord>,
  { channelId, keyMark }: ObjectAccount,
  hashKey: HashKey,
): OpenAccount | undefined {
  const channel = channels.get(channelId);
  const service = channel && providerByType(channel.type)?.files;
  if (!channel || !service) return undefined;
  const keyIndex = isOneAccount(channel)
    ? (channel.usableKeys?.[0] ?? 0)
    : channel.keys.findIndex((key) => markKey(key, hashKey) === keyMark);
  return keyIndex < 0 || keyIndex >= channel.keys.length ? undefined : { channel, keyIndex, service };
}

/** The same for reads, which a disabled channel still serves; throws `file_lost`. */
export function requireAccount(
  channels: ReadonlyMap<number, ChannelRecord>,
  object: ObjectAccount & { readonly id: string },
  hashKey: HashKey,
): OpenAccount {
  const account = findAccount(channels, object, hashKey);
  if (!account) throw new AppError("file_lost", { param: "id", values: { id: object.id } });
  return account;
}
