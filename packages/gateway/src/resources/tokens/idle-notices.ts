import { TOKEN_STATUS } from "@fairway/wire";
import type { EventToken } from "../../events/token-event.ts";
import { seconds } from "../../lib/clock.ts";
import { recordAllNotices, ROWS_AT_ONCE, type Confirm, type NoticeDeps } from "./notices.ts";

const DAY = 86_400;
/** Tokens that became idle longer ago had their event, or were idle before anyone asked. */
const IDLE_FOR_DAYS = 7;

interface IdleToken extends EventToken {
  readonly key_hint: string;
  readonly accessed_time: number;
}

/**
 * Records which tokens could be used and were not for so many days, once for each last use; a new token counts as used
 * when it is made. Returns how many were new.
 */
export async function reportIdleTokens(
  deps: NoticeDeps & { readonly days: number },
  signal: AbortSignal,
  confirm: Confirm,
): Promise<number> {
  const { days } = deps;
  if (days === 0) return 0;
  const read = (after: number) => selectIdle(deps, after);
  const describe = (row: IdleToken) => {
    const data = { hint: row.key_hint, days, last_used_at: row.accessed_time };
    return { row, type: "token.idle", about: String(row.accessed_time), data } as const;
  };
  return recordAllNotices(deps, { read, describe }, { signal, confirm });
}

function selectIdle(
  { database: { db }, clock, days }: NoticeDeps & { readonly days: number },
  after: number,
): Promise<IdleToken[]> {
  const now = seconds(clock);
  return db
    .selectFrom("tokens")
    .select(["id", "name", "user_id", "member_id", "key_hint", "accessed_time"])
    .where("id", ">", after)
    .where("accessed_time", "<=", now - days * DAY)
    .where("accessed_time", ">", now - (days + IDLE_FOR_DAYS) * DAY)
    .where((eb) => eb.or([eb("expired_time", "=", -1), eb("expired_time", ">", now)]))
    .where("status", "=", TOKEN_STATUS.enabled)
    .where("deleted_at", "is", null)
    .orderBy("id")
    .limit(ROWS_AT_ONCE)
    .execute();
}
