import { seconds } from "../../lib/clock.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { rawOn, transact } from "../../storage/transaction.ts";
import { replaceKey, ROTATION_COLUMNS } from "./replace-key.ts";
import type { TokenStoreDeps } from "./store.ts";

const AT_ONCE = 100;
/** Ended keys are recognised in calls and reports for this long. */
const REMEMBERED_SECONDS = 90 * 86_400;
const BY = "schedule";

type Confirm = (tx?: RawTransaction) => Promise<void>;

/** Replaces keys whose schedule is due, and forgets those that ended long ago. */
export async function rotateDueKeys(deps: TokenStoreDeps, signal: AbortSignal, confirm: Confirm): Promise<void> {
  for (const id of await selectDue(deps)) {
    signal.throwIfAborted();
    await rotateDue(deps, id, confirm);
  }
  const before = seconds(deps.clock) - REMEMBERED_SECONDS;
  await deps.database.db.deleteFrom("token_keys").where("expires_at", "<", before).execute();
}

async function selectDue({ database: { db }, clock }: TokenStoreDeps): Promise<number[]> {
  const due = db.selectFrom("tokens").select("id").where("next_rotation_at", ">", 0);
  const rows = due.where("next_rotation_at", "<=", seconds(clock)).where("deleted_at", "is", null);
  return (await rows.orderBy("next_rotation_at").limit(AT_ONCE).execute()).map(({ id }) => id);
}

/** The row is read again under its lock: its owner may have rotated it, or changed the schedule, in the meantime. */
async function rotateDue(deps: TokenStoreDeps, id: number, confirm: Confirm): Promise<void> {
  const { database, vault, clock, announce, tokens } = deps;
  const { kind } = database;
  const now = seconds(clock);
  const isRotated = await transact(database.db, async (trx) => {
    await rawOn(trx, kind).run("update tokens set status = status where id = ?", [id]);
    const due = trx.selectFrom("tokens").select(ROTATION_COLUMNS).where("id", "=", id).where("deleted_at", "is", null);
    const row = await due.where("next_rotation_at", ">", 0).where("next_rotation_at", "<=", now).executeTakeFirst();
    if (!row) return false;
    await replaceKey(trx, row, { kind, vault, now, graceSeconds: row.rotate_grace_seconds, by: BY });
    await confirm(rawOn(trx, kind));
    return true;
  });
  if (!isRotated) return;
  tokens.dropToken(id);
  await announce("tokens");
}
