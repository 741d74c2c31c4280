import type { BudgetScope, BudgetSubjects, BudgetTerms } from "./budget.ts";

/** Which budgets there are and whom they concern, in memory. */
export class BudgetIndex {
  readonly #bySubject: ReadonlyMap<BudgetScope, ReadonlyMap<string, readonly BudgetTerms[]>>;

  constructor(budgets: readonly BudgetTerms[]) {
    const byScope = Map.groupBy(budgets, ({ scope }) => scope);
    this.#bySubject = new Map(
      [...byScope].map(([scope, some]) => [scope, Map.groupBy(some, ({ subject }) => subject)]),
    );
  }

  get isEmpty(): boolean {
    return this.#bySubject.size === 0;
  }

  find({ tokenId, userId, group, model, channelId }: BudgetSubjects): readonly BudgetTerms[] {
    if (this.isEmpty) return NONE;
    const found = [
      this.#of("user", userId),
      this.#of("group", group),
      this.#of("model", model),
      this.#of("channel", channelId),
      tokenId === 0 ? NONE : this.#of("token", tokenId),
    ];
    return found.some((some) => some.length > 0) ? found.flat() : NONE;
  }

  /** False when none concerns such requests, whichever channel serves them for whichever group. */
  mayConcern({ tokenId, userId, model }: Pick<BudgetSubjects, "tokenId" | "userId" | "model">): boolean {
    if (this.isEmpty) return false;
    if (this.#bySubject.has("group") || this.#bySubject.has("channel")) return true;
    return this.find({ tokenId, userId, model, group: "", channelId: 0 }).length > 0;
  }

  #of(scope: BudgetScope, subject: string | number): readonly BudgetTerms[] {
    return this.#bySubject.get(scope)?.get(String(subject)) ?? NONE;
  }
}

const NONE: readonly BudgetTerms[] = [];
