import type { BudgetTerms } from "../../billing/budgets/budget.ts";
import type { StopNotes } from "../request/stop-notes.ts";

interface StopDetail {
  /** Members of `other` for every reader. */
  readonly shared: Record<string, unknown>;
  /** Members of `admin_info`. */
  readonly operator: Record<string, unknown>;
}

/**
 * Returns the verdict and the exhausted budget of a call for its log row; `isUsedUp` if that is why it ended. Undefined
 * if there is neither.
 */
export function stopDetail({ guardrail, usedUp }: StopNotes, isUsedUp: boolean): StopDetail | undefined {
  const spent = isUsedUp ? usedUp : undefined;
  if (!guardrail && spent === undefined) return undefined;
  return {
    shared: {
      ...(guardrail && { guardrail: guardrail.verdict }),
      ...(spent !== undefined && { used_up: spent === "balance" ? "balance" : "budget" }),
    },
    operator: {
      ...(guardrail && { guardrail_reason: guardrail.reason }),
      ...(spent !== undefined && spent !== "balance" && { budget: pickBudgetTerms(spent) }),
    },
  };
}

function pickBudgetTerms({ id, scope, subject, subject_name = "", period, length, quota_limit }: BudgetTerms) {
  return { id, scope, subject, subject_name, period, ...(period === "hours" && { length }), quota_limit };
}
