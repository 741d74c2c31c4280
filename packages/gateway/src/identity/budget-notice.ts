import type { Budget } from "../billing/budgets.ts";
import { notifyRoot, type NotifyRootDeps } from "./notify-root.ts";

/** Logs and mails that a budget has passed a threshold. */
export function budgetNotice(deps: NotifyRootDeps): (budget: Budget, percent: number) => void {
  return ({ id, scope, subject, period, quota_limit: limit, used, is_hard: isHard }, percent) => {
    deps.log.warn("a budget passed a threshold", { budget: id, scope, subject, period, percent, used, limit });
    const title = `Budget of ${scope} ${subject} (#${id}) has reached ${percent} %`;
    const end = isHard === 1 ? " Requests beyond it are refused." : "";
    void notifyRoot(deps, title, `${title}: ${used} of ${limit} quota units of this ${period} are used.${end}`);
  };
}
