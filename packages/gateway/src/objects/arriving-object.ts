import { markKey } from "../snapshot/key-marks.ts";
import type { OpenAccount } from "./account.ts";
import { createObjectId } from "./ids.ts";
import type { ObjectCall, ObjectDeps } from "./object-call.ts";
import type { StoredObject } from "./stored-object.ts";
import { seconds } from "../lib/clock.ts";

/** A row whose upload has not ended after this long belongs to a process that died. */
const SENDING_SECONDS = 7_200;

/** What is known of a file or an upload before its bytes have arrived. */
interface Announced extends Pick<StoredObject, "dialect" | "name" | "mime" | "purpose" | "bytes"> {
  readonly kind: "file" | "upload";
  readonly facts?: StoredObject["facts"] | undefined;
  /** How long it may take to complete; absent for files, which stay. */
  readonly lifeSeconds?: number;
}

/** Returns the row of what the caller is sending to the account. */
export function createArrivingObject(
  { caller }: Pick<ObjectCall, "caller">,
  { lifeSeconds, facts = {}, ...announced }: Announced,
  account: OpenAccount,
  { clock, hashKey }: Pick<ObjectDeps, "clock" | "hashKey">,
): StoredObject {
  const now = seconds(clock);
  return {
    ...announced,
    id: createObjectId(announced.dialect, announced.kind, clock.now()),
    userId: caller.userId,
    tokenId: caller.tokenId,
    channelId: account.channel.id,
    keyMark: markKey(account.channel.keys[account.keyIndex] ?? "", hashKey),
    upstreamId: "",
    state: "sending",
    facts,
    createdAt: now,
    expiresAt: lifeSeconds === undefined ? 0 : now + lifeSeconds,
    nextCheckAt: now + (lifeSeconds ?? SENDING_SECONDS),
  };
}
