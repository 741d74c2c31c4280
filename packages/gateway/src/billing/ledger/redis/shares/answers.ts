import type { Clock } from "../../../../lib/clock.ts";
import type { RawDatabase, RawTransaction } from "../../../../storage/engines/raw.ts";
import type { LeaseTime } from "../../../reservations/lease-time.ts";
import { heldByTokens, heldByUsers, lockTokens, lockUsersAt } from "../../booking/accounts.ts";
import { insertHolds } from "../../sql/holds.ts";
import { isRefusal, type Hold, type HoldRefusal } from "../../ledger.ts";
import { quota } from "../../../money/quota.ts";
import { GRANTED, NOTHING, type ShareRow } from "./share-rows.ts";

export interface AnswerDeps {
  readonly database: RawDatabase;
  readonly clock: Clock;
  readonly leaseTime: LeaseTime;
  readonly leaseMs: number;
}

/** What Redis says to a share: its whole amount from now on, or a refusal. */
export interface ShareAnswer {
  readonly row: ShareRow;
  readonly answer: Pick<Hold, "amount"> | HoldRefusal;
}

/**
 * Writes answers, and the reservations that they grant into `holds`: the replica that asked settles there. Returns the
 * answers that no replica waits for any more.
 */
export function writeAnswers(answers: readonly ShareAnswer[], deps: AnswerDeps): Promise<ShareAnswer[]> {
  return deps.database.transaction((tx) => writeAll(tx, answers, deps));
}

async function writeAll(
  tx: RawTransaction,
  answers: readonly ShareAnswer[],
  { database: { kind }, clock, leaseTime, leaseMs }: AnswerDeps,
): Promise<ShareAnswer[]> {
  const rows = answers.map(({ row }) => row);
  const userIds = rows.map(({ user_id }) => user_id);
  const { now } = await lockUsersAt(tx, kind, userIds, leaseTime);
  await lockTokens(
    tx,
    kind,
    rows.map(({ token_id }) => token_id),
  );
  const [users, tokens, holds] = [heldByUsers(), heldByTokens(), [] as Hold[]];
  const unread: ShareAnswer[] = [];
  for (const one of answers) {
    const { row, answer } = one;
    const granted = "refused" in answer ? row.granted : answer.amount;
    const text = "refused" in answer ? JSON.stringify(answer) : GRANTED;
    const sql =
      "update balance_shares set answer = ?, granted = ? where request_id = ? and answer = '' and wanted = ? and granted = ?";
    if ((await tx.run(sql, [text, granted, row.request_id, row.wanted, row.granted])) === 0) {
      unread.push(one);
      continue;
    }
    const more = granted - Math.max(row.granted, 0);
    if (more > 0) users.add(row.user_id, "held", more);
    if (more > 0 && row.token_id !== 0) tokens.add(row.token_id, "held", more);
    if ("refused" in answer) continue;
    if (row.granted === NOTHING) holds.push(toHold(row, granted, now + leaseMs));
    else await tx.run("update holds set amount = ? where request_id = ?", [granted, row.request_id]);
  }
  await users.write(tx, kind);
  await tokens.write(tx, kind);
  await insertHolds(tx, kind, holds, clock.now());
  return unread;
}

function toHold(row: ShareRow, amount: number, leaseUntil: number): Hold {
  const { request_id: requestId, user_id: userId, token_id: tokenId } = row;
  return { requestId, userId, tokenId, amount: quota(amount), leaseUntil };
}

/** Returns the answer to a question of `ShareRow`. */
export function readAnswer({ answer, granted }: ShareRow): Pick<Hold, "amount"> | HoldRefusal {
  return answer === GRANTED ? { amount: quota(granted) } : (JSON.parse(answer) as HoldRefusal);
}

export function isGrant(answer: Pick<Hold, "amount"> | HoldRefusal): answer is Pick<Hold, "amount"> {
  return !isRefusal(answer as Hold | HoldRefusal);
}
