import type { BudgetTerms } from "../../billing/budgets/budget.ts";

/** The guardrail's part of a log row: a text was refused, or passed without a verdict. */
export interface GuardrailNote {
  readonly phase: "prompt" | "answer";
  readonly verdict: "block" | "failed";
  readonly reason: string;
}

/** Reasons to end a call that do not come from its upstream. */
export interface StopNotes {
  /** Set if the guardrail refused a text or gave no verdict. */
  readonly guardrail?: GuardrailNote | undefined;
  /** What is exhausted: the balance of the user or the token, or a budget. */
  readonly usedUp?: BudgetTerms | "balance" | undefined;
}
