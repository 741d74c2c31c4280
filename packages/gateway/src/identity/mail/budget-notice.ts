import { budgetSubject, type Budget } from "@fairway/wire";
import type { Database } from "../../storage/database.ts";
import { readSubjectNames } from "../../storage/row-names.ts";
import { notifyRoot, type NotifyRootDeps } from "./notify-root.ts";

export interface BudgetNoticeDeps extends NotifyRootDeps {
  readonly database: Pick<Database, "db" | "raw">;
}

/** The budget of a notice. */
interface PassedBudget extends Pick<Budget, "id" | "scope" | "subject" | "period" | "quota_limit" | "used"> {
  readonly is_hard: number;
}

/** Logs and mails that a budget has passed a threshold. */
export function budgetNotice(deps: BudgetNoticeDeps): (budget: PassedBudget, percent: number) => void {
  return (budget, percent) => void notify(deps, budget, percent);
}

/** Sends the notice. Never rejects. */
async function notify(deps: BudgetNoticeDeps, budget: PassedBudget, percent: number): Promise<void> {
  const { id, scope, subject, period, quota_limit: limit, used, is_hard: isHard } = budget;
  const name = await readBudgetName(deps, budget);
  deps.log.warn("a budget passed a threshold", { budget: id, scope, subject, name, period, percent, used, limit });
  const whose = `${scope} ${budgetSubject({ scope, subject, subject_name: name })}`;
  const title = `The ${period}'s budget of ${whose} has reached ${percent} %`;
  const end = isHard === 1 ? " Requests beyond it are refused." : "";
  await notifyRoot(deps, title, `${title}: ${used} of ${limit} quota units are used.${end}`);
}

/** Returns the name; "" if it cannot be read: then the notice has the number. */
async function readBudgetName({ database, log }: BudgetNoticeDeps, budget: PassedBudget): Promise<string> {
  try {
    return (await readSubjectNames(database.raw, [budget]))(budget);
  } catch (error) {
    log.warn("the name of a budget's subject could not be read", { budget: budget.id, error });
    return "";
  }
}
