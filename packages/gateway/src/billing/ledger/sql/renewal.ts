import type { RawTransaction } from "../../../storage/engines/raw.ts";
import type { Hold, Ledger, Settlement } from "../ledger.ts";
import type { Quota } from "../../money/quota.ts";
import { lockTokens, lockUsers } from "../booking/accounts.ts";
import { type HoldDeps, refuse } from "./holds.ts";
import { settlementText } from "../booking/reaped-charge.ts";

/**
 * Like `renewHold`, but a running answer does not fail when the database is unavailable: the extension counts as
 * granted, and the settlement corrects the charge.
 */
export async function renewRunning(
  deps: HoldDeps,
  ...[hold, seen, amount]: Parameters<Ledger["renew"]>
): Promise<boolean> {
  try {
    return await renewHold(deps, hold, seen, amount);
  } catch (error) {
    if (amount === undefined) throw error;
    deps.log.warn("a reservation could not be extended; its request continues", { request_id: hold.requestId, error });
    return true;
  }
}

/**
 * Extends the lease and, if `amount` exceeds the held amount, the reservation. Returns false if that is refused or
 * there is no such hold.
 */
async function renewHold(deps: HoldDeps, hold: Hold, seen: Settlement, amount: Quota | undefined): Promise<boolean> {
  const { database } = deps;
  if (amount === undefined) return touch(database, hold, seen, deps);
  return database.transaction(async (tx) => {
    await lockUsers(tx, database.kind, [hold.userId]);
    const isOpen = await touch(tx, hold, seen, deps);
    return isOpen && (await extend(tx, hold, amount, deps));
  });
}

async function touch(
  tx: RawTransaction,
  { requestId }: Hold,
  seen: Settlement,
  { leaseTime, leaseMs }: HoldDeps,
): Promise<boolean> {
  const { sql, values } = leaseTime.at(leaseMs);
  const update = `update holds set seen = ?, lease_until = ${sql} where request_id = ?`;
  return (await tx.run(update, [settlementText(seen), ...values, requestId])) > 0;
}

async function extend(
  tx: RawTransaction,
  hold: Hold,
  amount: Quota,
  { database: { kind } }: HoldDeps,
): Promise<boolean> {
  const { requestId, userId, tokenId } = hold;
  const [row] = await tx.rows<{ readonly amount: number }>("select amount from holds where request_id = ?", [
    requestId,
  ]);
  const more = amount - (row?.amount ?? amount);
  if (more <= 0) return true;
  const user = (await lockUsers(tx, kind, [userId])).get(userId);
  const token = (await lockTokens(tx, kind, [tokenId])).get(tokenId);
  const refusal = refuse(
    { amount: more as Quota, isCharged: true },
    {
      user: user ? user.quota - user.held : 0,
      token: tokenId === 0 || token?.unlimited_quota === 1 ? undefined : token ? token.remain_quota - token.held : 0,
    },
  );
  if (refusal) return false;
  await tx.run("update users set held = held + ? where id = ?", [more, userId]);
  if (tokenId !== 0) await tx.run("update tokens set held = held + ? where id = ?", [more, tokenId]);
  await tx.run("update holds set amount = ? where request_id = ?", [amount, requestId]);
  return true;
}
