import { CHANNEL_STATUS } from "@fairway/wire";
import { seconds, type Clock } from "../../lib/clock.ts";
import { parseObject } from "../../lib/text/json.ts";
import type { Database } from "../../storage/database.ts";

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

/** The state that a switch by the system begins from. */
export interface StatusBefore {
  readonly status: number;
  readonly other_info: string;
}

export interface EndDisablesDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly store: {
    switchBySystem(id: number, from: StatusBefore, to: number, reason: string): Promise<boolean>;
  };
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
  const { disabledByHand, enabled } = CHANNEL_STATUS;
  for (const { id, other_info: info } of rows) {
    const until = parseObject(info)?.["status_until"];
    if (typeof until !== "number" || until > seconds(clock)) continue;
    const reason = "The time of its disable has passed.";
    const from = { status: disabledByHand, other_info: info };
    if (await store.switchBySystem(id, from, enabled, reason)) ended.push(id);
  }
  return ended;
}
