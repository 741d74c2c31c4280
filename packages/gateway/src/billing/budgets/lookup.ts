import type { BudgetScope, BudgetSubjects, BudgetTerms } from "./budget.ts";

/** The budgets that count one request, in ascending id order within a scope; the same object for all such requests. */
export interface BudgetSet {
  readonly terms: readonly BudgetTerms[];
  readonly ids: ReadonlySet<number>;
  /** The member of a settlement that names them; empty if there are none. */
  readonly counted: { readonly budgets?: readonly number[] };
}

/** Maximum number of cached sets; beyond that, sets are built again. */
const MAX_SETS = 10_000;

/** An index in memory of all budgets by their subjects. */
export class BudgetIndex {
  readonly #bySubject: ReadonlyMap<BudgetScope, ReadonlyMap<string, readonly BudgetTerms[]>>;
  readonly #sets = new Map<string, BudgetSet>();

  constructor(budgets: readonly BudgetTerms[]) {
    const byScope = Map.groupBy(budgets, ({ scope }) => scope);
    this.#bySubject = new Map(
      [...byScope].map(([scope, some]) => [scope, Map.groupBy(some, ({ subject }) => subject)]),
    );
  }

  get isEmpty(): boolean {
    return this.#bySubject.size === 0;
  }

  find({ tokenId, userId, group, model, channelId }: BudgetSubjects): BudgetSet {
    if (this.isEmpty) return NO_BUDGETS;
    const ofUser = this.#of("user", userId);
    const ofGroup = this.#of("group", group);
    const ofModel = this.#of("model", model);
    const ofChannel = this.#of("channel", channelId);
    const ofToken = tokenId === 0 ? NONE : this.#of("token", tokenId);
    const name = `${getFirstBudgetId(ofUser)} ${getFirstBudgetId(ofGroup)} ${getFirstBudgetId(ofModel)} ${getFirstBudgetId(ofChannel)} ${getFirstBudgetId(ofToken)}`;
    const known = this.#sets.get(name);
    if (known) return known;
    const terms = [...ofUser, ...ofGroup, ...ofModel, ...ofChannel, ...ofToken];
    if (terms.length === 0) return NO_BUDGETS;
    const budgets = terms.map(({ id }) => id);
    const set = { terms, ids: new Set(budgets), counted: { budgets } };
    if (this.#sets.size >= MAX_SETS) this.#sets.clear();
    this.#sets.set(name, set);
    return set;
  }

  /** False if no budget concerns such requests, whichever channel and group serve them. */
  mayConcern({ tokenId, userId, model }: Pick<BudgetSubjects, "tokenId" | "userId" | "model">): boolean {
    if (this.isEmpty) return false;
    if (this.#bySubject.has("group") || this.#bySubject.has("channel")) return true;
    return this.find({ tokenId, userId, model, group: "", channelId: 0 }).terms.length > 0;
  }

  #of(scope: BudgetScope, subject: string | number): readonly BudgetTerms[] {
    return this.#bySubject.get(scope)?.get(String(subject)) ?? NONE;
  }
}

/** Returns the id that identifies the budgets of one subject: that of the first. */
function getFirstBudgetId(ofSubject: readonly BudgetTerms[]): number {
  return ofSubject[0]?.id ?? 0;
}

const NONE: readonly BudgetTerms[] = [];
const NO_BUDGETS: BudgetSet = { terms: NONE, ids: new Set(), counted: {} };
