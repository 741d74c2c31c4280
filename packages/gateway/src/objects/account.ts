import { AppError } from "../lib/app-error.ts";
import type { ChannelRecord, FileService } from "../providers/core/types.ts";
import { providerByType } from "../providers/registry.ts";
import { findMarkedKey, type HashKey } from "../snapshot/key-marks.ts";
import type { ObjectAccount } from "./stored-object.ts";

/** A channel with one of its keys. */
export interface OpenAccount {
  readonly channel: ChannelRecord;
  readonly keyIndex: number;
  readonly service: FileService;
}

/** Returns the account that stores the object; undefined if its channel or its key no longer exists. */
export function findAccount(
  channels: ReadonlyMap<number, ChannelRecord>,
  { channelId, keyMark }: ObjectAccount,
  hashKey: HashKey,
): OpenAccount | undefined {
  const channel = channels.get(channelId);
  return channel && openAccount(channel, findMarkedKey(channel, keyMark, hashKey));
}

/** Undefined for a key that was removed, and for a vendor that stores no files. */
export function openAccount(channel: ChannelRecord, keyIndex: number): OpenAccount | undefined {
  const service = providerByType(channel.type)?.files;
  return service && keyIndex >= 0 && keyIndex < channel.keys.length ? { channel, keyIndex, service } : undefined;
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
