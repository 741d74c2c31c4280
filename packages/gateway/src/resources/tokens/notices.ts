import type { EventTypeName } from "../../events/catalogue.ts";
import { recordTokenEvent, type EventToken } from "../../events/token-event.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { rawOn, transact } from "../../storage/transaction.ts";
import type { TokenStoreDeps } from "./store.ts";

export type NoticeDeps = Pick<TokenStoreDeps, "database" | "clock">;
export type Confirm = (tx?: RawTransaction) => Promise<void>;

/** Rows that a job reads in one step. */
export const ROWS_AT_ONCE = 200;

/** An event that is due because time passes, once for what it is about. */
export interface Notice {
  readonly row: EventToken;
  readonly type: EventTypeName;
  /** At most 32 characters. */
  readonly about: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Reads tokens page by page and writes the events that are due; returns how many were new. */
export async function recordAllNotices<Row extends EventToken>(
  deps: NoticeDeps,
  { read, describe }: { read(after: number): Promise<Row[]>; describe(row: Row): Notice | undefined },
  { signal, confirm }: { readonly signal: AbortSignal; readonly confirm: Confirm },
): Promise<number> {
  let recorded = 0;
  for (let after = 0; ;) {
    signal.throwIfAborted();
    const rows = await read(after);
    const last = rows.at(-1);
    if (!last) return recorded;
    const due = rows.flatMap((row) => describe(row) ?? []);
    recorded += await recordNotices(deps, due, confirm);
    after = last.id;
  }
}

/** Writes the events that are missing: most runs find all of them written. */
async function recordNotices({ database, clock }: NoticeDeps, due: readonly Notice[], confirm: Confirm) {
  if (due.length === 0) return 0;
  const key = ({ row, type, about }: Notice) => `${type}:${row.id}:${about}`;
  const known = database.db.selectFrom("events").select("dedup_key").where("dedup_key", "in", due.map(key));
  const written = new Set((await known.execute()).map((event) => event.dedup_key));
  const missing = due.filter((one) => !written.has(key(one)));
  if (missing.length === 0) return 0;
  await transact(database.db, async (trx) => {
    await confirm(rawOn(trx, database.kind));
    for (const { row, type, about, data } of missing)
      await recordTokenEvent(trx, row, { type, atMs: clock.now(), about, data });
  });
  return missing.length;
}
