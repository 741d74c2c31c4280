import { recordRawEvent, type NewEvent } from "../../events/record-event.ts";
import type { RawDatabase, RawTransaction } from "../../storage/engines/raw.ts";
import { readSubjectNames, splitPayer } from "../../storage/row-names.ts";
import type { Budget } from "./budget.ts";
import { findWindow } from "./window.ts";

/** The columns of a budget that its events need. */
export type ReportedBudget = Omit<Budget, "held" | "noted" | "revision" | "thresholds" | "soft_percent" | "is_hard">;

interface BudgetEvent {
  readonly type: "budget.threshold" | "budget.exhausted" | "budget.forecast";
  readonly percent: number;
  /** Milliseconds. */
  readonly atMs: number;
  /** More members of its data. */
  readonly more?: Readonly<Record<string, number>>;
}

/**
 * Writes an event of a budget, for those whom it limits: once in each window, or in each part of a window after a
 * reset.
 */
export async function recordBudgetEvent(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  budget: ReportedBudget,
  { type, percent, atMs, more }: BudgetEvent,
): Promise<void> {
  const { id, scope, subject, period, length, filter_model: model, used, quota_limit: limit } = budget;
  const { end } = findWindow(budget, atMs);
  const since = Math.max(budget.window_start, Number(budget.created_at));
  const name = (await readSubjectNames(tx, [budget]))(budget);
  await recordRawEvent(tx, kind, {
    type,
    atMs,
    ...(await findOwner(tx, budget)),
    dedupKey: `${type}:${id}:${since}:${percent}`,
    data: { id, scope, subject, name, period, length, model, percent, used, limit, window_end: end, ...more },
  });
}

type Owner = Pick<NewEvent, "accountId" | "userId" | "teamId">;

/**
 * Returns the account or team that the budget limits; none for a group, a model or a channel, which concern the
 * operator.
 */
async function findOwner(tx: RawTransaction, { scope, subject }: ReportedBudget): Promise<Owner> {
  if (scope === "team") return { teamId: Number(subject) };
  if (scope === "member") {
    const [teamId, userId] = subject.split(":").map(Number);
    return { teamId, userId };
  }
  if (scope === "service_account") {
    const sql = "select team_id from service_accounts where id = ?";
    const [row] = await tx.rows<{ team_id: number }>(sql, [Number(subject)]);
    return { teamId: Number(row?.team_id ?? 0) };
  }
  if (scope === "tag" || scope === "end_user") return findPayer(tx, splitPayer(subject).payer);
  const userId = scope === "user" ? Number(subject) : scope === "token" ? await findTokenOwner(tx, subject) : 0;
  return userId > 0 ? { accountId: userId, userId } : {};
}

/** A team hears of the budgets of its wallet. */
async function findPayer(tx: RawTransaction, accountId: number): Promise<Owner> {
  const [team] = await tx.rows<{ id: number }>("select id from teams where account_id = ?", [accountId]);
  return team ? { accountId, teamId: Number(team.id) } : { accountId, userId: accountId };
}

async function findTokenOwner(tx: RawTransaction, token: string): Promise<number> {
  const [row] = await tx.rows<{ user_id: number }>("select user_id from tokens where id = ?", [Number(token)]);
  return Number(row?.user_id ?? 0);
}
