import { ACCOUNT_KIND } from "@fairway/wire";
import type { Quota } from "../billing/money/quota.ts";
import { seconds } from "../lib/clock.ts";
import { formatActor } from "../snapshot/team-record.ts";
import type { RawTransaction } from "../storage/engines/raw.ts";
import { recordTaskEnd, type TaskEnd } from "./record-end.ts";
import type { PollDeps } from "./types.ts";

/** A row of one of the task tables. */
export interface TaskRow {
  readonly id: number;
  readonly user_id: number;
  readonly token_id: number;
  readonly channel_id: number;
  readonly request_id: string;
  readonly quota: number;
  readonly charged: number;
  readonly refunded: number;
  readonly progress: string;
}

/** Writes the failure and returns whether the row was still open; called inside a transaction. */
export type MarkFailed = (tx: RawTransaction) => Promise<boolean>;

/** Marks a task as failed and refunds it in one transaction, once, even if several replicas find it. */
export async function failTask(row: TaskRow, end: TaskEnd, mark: MarkFailed, deps: PollDeps): Promise<void> {
  const { table } = end;
  await deps.ledger.changeWith(async (tx) => {
    if (!(await mark(tx))) return undefined;
    await recordTaskEnd(tx, row, end, deps);
    const isOwed =
      row.quota > 0 &&
      (await tx.run(`update ${table} set refunded = 1 where id = ? and charged = 1 and refunded = 0`, [row.id])) > 0;
    if (!isOwed) return undefined;
    const detail = `Task ${row.id} failed; ${row.quota} returned`;
    const [user] = await tx.rows<Owner>(OWNER, [row.token_id, row.user_id]);
    await deps.writeLog(tx, {
      user_id: row.user_id,
      username: user?.username ?? "",
      created_at: seconds(deps.clock),
      type: SYSTEM_LOG,
      content: detail,
      quota: row.quota,
      channel_id: row.channel_id,
      token_id: row.token_id,
      request_id: row.request_id,
      ...(user?.kind === ACCOUNT_KIND.wallet && {
        account_kind: user.kind,
        actor: formatActor(user.member_id ?? 0, user.service_account_id ?? 0),
      }),
    });
    return {
      requestId: row.request_id,
      kind: "refund",
      userId: row.user_id,
      ...(row.token_id === 0 ? {} : { tokenId: row.token_id }),
      channelId: row.channel_id,
      quota: row.quota as Quota,
      detail,
    };
  });
}

interface Owner {
  readonly username: string;
  readonly kind: number;
  readonly member_id: number | null;
  readonly service_account_id: number | null;
}

const OWNER = `select u.username, u.kind, t.member_id, t.service_account_id from users u
  left join tokens t on t.id = ? and t.user_id = u.id where u.id = ?`;

const SYSTEM_LOG = 4;
