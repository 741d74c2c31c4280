import type { Budgets } from "../../billing/budgets/budgets.ts";
import type { Announce } from "../ports.ts";

export interface SpreadDeps {
  readonly announce: Announce;
  /** Reloaded before a call is answered, so that this replica knows the change. */
  readonly budgets: Pick<Budgets, "reload" | "restate">;
}

/** Creates what follows a change of a budget: this replica and all others use it. */
export function createBudgetSpread({ announce, budgets }: SpreadDeps) {
  const spread = async (): Promise<void> => {
    await budgets.reload();
    await announce("options");
  };
  return {
    spread,
    /** For changes of what is used or of its window: Redis follows before a replica uses the new rule. */
    async restate(ids: readonly number[]): Promise<void> {
      // Redis may be unreachable; then it follows with the next booking, or when the reaper runs.
      await budgets.restate(ids).catch(() => undefined);
      await spread();
    },
  };
}
