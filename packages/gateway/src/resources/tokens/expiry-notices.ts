import { TOKEN_STATUS } from "@fairway/wire";
import { recordTokenEvent, type EventToken } from "../../events/token-event.ts";
import { seconds } from "../../lib/clock.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { rawOn, transact } from "../../storage/transaction.ts";
import type { TokenStoreDeps } from "./store.ts";

type Deps = Pick<TokenStoreDeps, "database" | "clock">;
type Confirm = (tx?: RawTransaction) => Promise<void>;

const DAY = 86_400;
/** How long before its end an event announces that a token expires; shorter lives surprise no one. */
const NOTICE_DAYS = [7, 1] as const;
/** Tokens that expired longer ago had their event, or ended before there were events. */
const EXPIRED_FOR = DAY;
const AT_ONCE = 200;

interface Expiring extends EventToken {
  readonly key_hint: string;
  readonly created_time: number;
  readonly expired_time: number;
}

/** Records which tokens expire soon or have expired, once for each end; returns how many were new. */
export async function reportExpiries(deps: Deps, signal: AbortSignal, confirm: Confirm): Promise<number> {
  let reported = 0;
  for (let after = 0; ;) {
    signal.throwIfAborted();
    const rows = await selectExpiring(deps, after);
    const last = rows.at(-1);
    if (!last) return reported;
    reported += await report(deps, rows, confirm);
    after = last.id;
  }
}

function selectExpiring({ database: { db }, clock }: Deps, after: number): Promise<Expiring[]> {
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
    .limit(AT_ONCE)
    .execute();
}

interface ExpiryEvent {
  readonly row: Expiring;
  readonly type: "token.expiring" | "token.expired";
  readonly about: string;
}

/** Writes the events that are missing: most runs find all of them written. */
async function report({ database, clock }: Deps, rows: readonly Expiring[], confirm: Confirm): Promise<number> {
  const now = seconds(clock);
  const due = rows.flatMap((row) => describe(row, now) ?? []);
  if (due.length === 0) return 0;
  const key = ({ row, type, about }: ExpiryEvent) => `${type}:${row.id}:${about}`;
  const known = database.db.selectFrom("events").select("dedup_key").where("dedup_key", "in", due.map(key));
  const written = new Set((await known.execute()).map((event) => event.dedup_key));
  const missing = due.filter((one) => !written.has(key(one)));
  if (missing.length === 0) return 0;
  await transact(database.db, async (trx) => {
    await confirm(rawOn(trx, database.kind));
    for (const { row, type, about } of missing) {
      const data = { hint: row.key_hint, expires_at: row.expired_time };
      await recordTokenEvent(trx, row, { type, atMs: clock.now(), about, data });
    }
  });
  return missing.length;
}

function describe(row: Expiring, now: number): ExpiryEvent | undefined {
  const { expired_time: end, created_time: made } = row;
  if (end < now) return { row, type: "token.expired", about: String(end) };
  const days = NOTICE_DAYS.findLast((some) => end - now <= some * DAY);
  if (days === undefined || end - made <= days * DAY) return undefined;
  return { row, type: "token.expiring", about: `${end}:${days}d` };
}
