import { notifyRoot, type NotifyRootDeps } from "./notify-root.ts";

/** The budget of a notice. */
interface PassedBudget {
  readonly id: number;
  readonly scope: string;
  readonly subject: string;
  readonly period: string;
  readonly quota_limit: number;
  readonly used: number;
  readonly is_hard: number;
}

/** Logs and mails that a budget has passed a threshold. */
export function budgetNotice(deps: NotifyRootDeps): (budget: PassedBudget, percent: number) => void {
  return ({ id, scope, subject, period, quota_limit: limit, used, is_hard: isHard }, percent) => {
    deps.log.warn("a budget passed a threshold", { budget: id, scope, subject, period, percent, used, limit });
    const title = `Budget of ${scope} ${subject} (#${id}) has reached ${percent} %`;
    const end = isHard === 1 ? " Requests beyond it are refused." : "";
    void notifyRoot(deps, title, `${title}: ${used} of ${limit} quota units of this ${period} are used.${end}`);
  };
}
