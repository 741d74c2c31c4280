import { ACCOUNT_KIND, formatQuota, LOG_TYPE, type OptionValues } from "@fairway/wire";
import { isRefusal, type BalanceChange, type Ledger } from "../../billing/ledger/ledger.ts";
import { quota } from "../../billing/money/quota.ts";
import type { RequestContext } from "../../http/context.ts";
import type { Principal } from "../../identity/principal.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Database } from "../../storage/database.ts";
import type { RawDatabase, RawTransaction } from "../../storage/engines/raw.ts";
import type { WriteLog } from "../../storage/log-rows.ts";
import type { Team } from "../../teams/team.ts";
import { moneyStyle } from "../users/money-style.ts";
import type { Once } from "../users/once.ts";

export interface TransferDeps {
  readonly database: Database;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly options: () => OptionValues;
  readonly writeLog: WriteLog;
}

export interface Transfer {
  readonly team: Team;
  readonly caller: Principal;
  readonly amount: number;
  /** Set if repeating the transfer must have no effect. */
  readonly once: Once | undefined;
  readonly context: RequestContext;
}

/**
 * Moves an amount from a person to a wallet. It is reserved first, so that calls of the person cannot spend it
 * meanwhile; then both rows are written in one transaction, then the reservation ends. If the process stops in between,
 * there are both rows or none, and the reservation expires. Throws `team_quota_insufficient`.
 */
export async function transferToTeam(deps: TransferDeps, transfer: Transfer): Promise<void> {
  const { ledger, database } = deps;
  const { caller, amount, once, context } = transfer;
  const id = once?.requestId ?? context.requestId;
  if (once && (await isMoved(database.raw, once))) return;
  const held = await ledger.hold({
    requestId: `${id}-hold`,
    userId: caller.userId,
    tokenId: 0,
    amount: quota(amount),
    isCharged: true,
  });
  if (isRefusal(held)) throw new Refusal("team_quota_insufficient", { field: "quota" });
  try {
    await ledger.changeAllWith(async (tx) => {
      if (once && (await isMoved(tx, once))) return [];
      await checkRoom(tx, transfer);
      await writeLogs(deps, tx, transfer);
      return listChanges(id, transfer);
    });
  } finally {
    await ledger.release(held);
  }
}

function listChanges(id: string, { team, caller, amount }: Transfer): BalanceChange[] {
  const out = { userId: caller.userId, quota: quota(-amount), detail: `To the team ${team.name}` };
  const into = { userId: team.accountId, quota: quota(amount), detail: `From ${caller.username}` };
  return [
    { requestId: `${id}-out`, kind: "transfer", ...out },
    { requestId: `${id}-in`, kind: "transfer", ...into },
  ];
}

/** Returns whether this transfer was made before; throws `idempotency_key_reused` if the key was used for another. */
async function isMoved(tx: Pick<RawDatabase, "rows">, { prefix, requestId }: Once): Promise<boolean> {
  const [known] = await tx.rows<{ request_id: string }>(
    "select request_id from ledger where request_id > ? and request_id < ? order by request_id",
    // "." follows "-", so it ends the range of texts with this prefix.
    [`${prefix}-`, `${prefix}.`],
  );
  if (known && !known.request_id.startsWith(`${requestId}-`))
    throw new Refusal("idempotency_key_reused", { field: "Idempotency-Key" });
  return known !== undefined;
}

/** A balance above 2^53 - 1 could not be read any more. */
async function checkRoom(tx: RawTransaction, { team, caller, amount }: Transfer): Promise<void> {
  for (const id of [caller.userId, team.accountId].toSorted((a, b) => a - b))
    await tx.run("update users set quota = quota where id = ?", [id]);
  const [wallet] = await tx.rows<{ quota: number }>("select quota from users where id = ?", [team.accountId]);
  if (wallet && !Number.isSafeInteger(wallet.quota + amount)) throw new Refusal("quota_invalid", { field: "quota" });
}

async function writeLogs(
  { writeLog, clock, options }: TransferDeps,
  tx: RawTransaction,
  { team, caller, amount, context }: Transfer,
): Promise<void> {
  const shown = formatQuota(amount, moneyStyle(options()));
  const row = { created_at: seconds(clock), type: LOG_TYPE.topup, request_id: context.requestId };
  await writeLog(tx, {
    ...row,
    user_id: caller.userId,
    username: caller.username,
    content: `Transferred ${shown} to the team ${team.name}`,
  });
  await writeLog(tx, {
    ...row,
    user_id: team.accountId,
    username: team.name,
    content: `${caller.username} transferred ${shown}`,
    actor: `u${caller.userId}`,
    account_kind: ACCOUNT_KIND.wallet,
  });
}
