import { TOKEN_STATUS } from "@fairway/wire";
import type { EventToken } from "../../events/token-event.ts";
import { seconds } from "../../lib/clock.ts";
import { recordAllNotices, ROWS_AT_ONCE, type Confirm, type Notice, type NoticeDeps } from "./notices.ts";

const DAY = 86_400;
/** How long before its end an event announces that a token expires; shorter lives surprise no one. */
const NOTICE_DAYS = [7, 1] as const;
/** Tokens that expired longer ago had their event, or ended before there were events. */
const EXPIRED_FOR = DAY;

interface Expiring extends EventToken {
  readonly key_hint: string;
  readonly created_time: number;
  readonly expired_time: number;
}

/** Records which tokens expire soon or have expired, once for each end; returns how many were new. */
export function reportExpiries(deps: NoticeDeps, signal: AbortSignal, confirm: Confirm): Promise<number> {
  const now = seconds(deps.clock);
  const read = (after: number) => selectExpiring(deps, after);
  return recordAllNotices(deps, { read, describe: (row) => describe(row, now) }, { signal, confirm });
}

function selectExpiring({ database: { db }, clock }: NoticeDeps, after: number): Promise<Expiring[]> {
  const now = seconds(clock);
  return db
    .selectFrom("tokens")
    .select(["id", "name", "user_id", "member_id", "key_hint", "created_time", "expired_time"])
    .where("id", ">", after)
    .where("expired_time", ">", now - EXPIRED_FOR)
    .where("expired_time", "<=", now + NOTICE_DAYS[0] * DAY)
    .where("status", "in", [TOKEN_STATUS.enabled, TOKEN_STATUS.expired])
    .where("deleted_at", "is", null)
    .orderBy("id")
    .limit(ROWS_AT_ONCE)
    .execute();
}

function describe(row: Expiring, now: number): Notice | undefined {
  const { expired_time: end, created_time: made } = row;
  const data = { hint: row.key_hint, expires_at: end };
  if (end < now) return { row, type: "token.expired", about: String(end), data };
  const days = NOTICE_DAYS.findLast((some) => end - now <= some * DAY);
  if (days === undefined || end - made <= days * DAY) return undefined;
  return { row, type: "token.expiring", about: `${end}:${days}d`, data };
}
