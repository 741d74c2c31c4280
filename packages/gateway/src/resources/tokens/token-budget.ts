import type { TokenBudget } from "@fairway/wire";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { Database } from "../../storage/database.ts";
import { bump } from "../../storage/revisions.ts";
import { insertBudget } from "../budgets/insert-budget.ts";
import { applyTerms, BUDGET_DEFAULTS } from "../budgets/terms.ts";
import type { WriteAlso } from "./store.ts";

export interface TokenBudgetDeps {
  readonly clock: Clock;
  readonly kind: Database["kind"];
}

/**
 * Returns the write of a hard budget of a new token: either both exist, or neither. Throws a refusal if the period has
 * no such windows. The revision of the options is raised first, as for every budget.
 */
export function planTokenBudget(budget: TokenBudget, { clock, kind }: TokenBudgetDeps): WriteAlso {
  const { period, quota_limit, ...wanted } = budget;
  const terms = applyTerms(period, { ...BUDGET_DEFAULTS, quota_limit }, wanted, seconds(clock));
  return async (tokenId, tx) => {
    await bump(tx, kind, "options");
    const identity = {
      scope: "token",
      subject: String(tokenId),
      period,
      filter_model: "",
      managed_by: "admin",
    } as const;
    await insertBudget(tx, { ...identity, ...terms }, clock);
  };
}
