import { CHANNEL_STATUS } from "@fairway/wire";
import { seconds, type Clock } from "../../lib/clock.ts";
import { parseObject } from "../../lib/text/json.ts";
import type { Database } from "../../storage/database.ts";
import { createAuditStore } from "../audit/store.ts";
import type { ChannelFields } from "./input.ts";
import type { ChannelRow } from "./view.ts";

/** Why a channel gets its status. */
export interface StatusCause {
  readonly reason?: string;
  /** Seconds after which a channel that is disabled by hand is enabled again; absent = it stays disabled. */
  readonly span?: number;
}

/** The text of `other_info` after a switch. */
export function statusInfo(cause: StatusCause | undefined, now: number): string {
  const { reason = "", span } = cause ?? {};
  const end = span === undefined ? {} : { status_until: now + span };
  return JSON.stringify({ status_reason: reason, status_time: now, ...end });
}

/** A switch alone holds until the next one; a whole form that sends the status back leaves the end of a disable as it is. */
export function isPlainDisable(current: { readonly other_info: string }, patch: Partial<ChannelFields>): boolean {
  const isSwitch = patch.status === CHANNEL_STATUS.disabledByHand && Object.keys(patch).length === 1;
  return isSwitch && readStatusEnd(current.other_info) !== undefined;
}

/** Epoch seconds; undefined for a disable without an end. */
function readStatusEnd(info: string): number | undefined {
  const until = parseObject(info)?.["status_until"];
  return typeof until === "number" ? until : undefined;
}

/** The author of changes that no user made. */
const SYSTEM = { user_id: 0, username: "system", ip: "" };
export const DISABLE_ENDED = "The time of its disable has passed.";

/** A row in the audit log for a channel that was enabled again; `before` is its `other_info` until then. */
export async function recordEnd(
  deps: Parameters<typeof createAuditStore>[0],
  { id, name, status, other_info }: Pick<ChannelRow, "id" | "name" | "status" | "other_info">,
  before: string,
): Promise<void> {
  await createAuditStore(deps).add({
    ...SYSTEM,
    action: "channelSetStatus",
    target: `channel ${id}`,
    old_value: JSON.stringify({ status: CHANNEL_STATUS.disabledByHand, other_info: before }),
    new_value: JSON.stringify({ name, status, other_info }),
  });
}

export interface EndDisablesDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly store: { endDisable(id: number, otherInfo: string): Promise<boolean> };
}

/** Enables the channels whose disable was for a time that has passed; returns their ids. */
export async function endDisables({ database, clock, store }: EndDisablesDeps): Promise<number[]> {
  const rows = await database.db
    .selectFrom("channels")
    .select(["id", "other_info"])
    .where("status", "=", CHANNEL_STATUS.disabledByHand)
    .where("other_info", "like", '%"status_until":%')
    .execute();
  const ended: number[] = [];
  for (const { id, other_info: info } of rows) {
    const until = readStatusEnd(info);
    if (until === undefined || until > seconds(clock)) continue;
    if (await store.endDisable(id, info)) ended.push(id);
  }
  return ended;
}
