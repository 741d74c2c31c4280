import { CHANNEL_STATUS } from "@fairway/wire";
import { seconds, type Clock } from "../../lib/clock.ts";
import { parseObject } from "../../lib/text/json.ts";
import type { Database } from "../../storage/database.ts";
import { createAuditStore } from "../audit/store.ts";
import type { ChannelFields } from "./input.ts";
import type { ChannelRow } from "./view.ts";

/** The cause of a channel's status. */
export interface StatusCause {
  readonly reason?: string;
  /** Seconds until a channel that is disabled by hand is enabled again; if absent, it stays disabled. */
  readonly span?: number;
}

/** Returns the text of `other_info` after a status change. */
export function statusInfo(cause: StatusCause | undefined, now: number): string {
  const { reason = "", span } = cause ?? {};
  const end = span === undefined ? {} : { status_until: now + span };
  return JSON.stringify({ status_reason: reason, status_time: now, ...end });
}

/**
 * Returns true for a status change alone, which holds until the next one. A whole form that sends the status back does
 * not change when a disable ends.
 */
export function isPlainDisable(current: { readonly other_info: string }, patch: Partial<ChannelFields>): boolean {
  const isSwitch = patch.status === CHANNEL_STATUS.disabledByHand && Object.keys(patch).length === 1;
  return isSwitch && readStatusEnd(current.other_info) !== undefined;
}

/** Returns epoch seconds; undefined for a disable with no time limit. */
function readStatusEnd(info: string): number | undefined {
  const until = parseObject(info)?.["status_until"];
  return typeof until === "number" ? until : undefined;
}

/** The author of changes that the system makes. */
const SYSTEM = { user_id: 0, username: "system", ip: "" };
export const DISABLE_ENDED = "The time of its disable has passed.";

/** Adds a row to the audit log for a channel that was enabled again; `before` is its earlier `other_info`. */
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

/** Enables channels that were disabled for a time that has passed; returns their ids. */
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
