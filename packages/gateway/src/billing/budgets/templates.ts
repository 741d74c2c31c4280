import { ANY_VALUE, parseTags } from "@fairway/wire";
import type { BudgetScope, BudgetSubjects, BudgetTerms } from "./budget.ts";
import { countsModel } from "./filter.ts";
import type { BudgetValues, UnknownValue } from "./values.ts";

/** The budgets that templates have for the values of one call. */
export interface ValueBudgets {
  readonly terms: readonly BudgetTerms[];
  /** Identifies them; "" without any. */
  readonly name: string;
  /** Values whose budget has to be opened first. */
  readonly unknown: readonly UnknownValue[];
}

type Caller = Pick<BudgetSubjects, "userId" | "model" | "team" | "tags">;

interface Value {
  readonly scope: BudgetScope;
  readonly prefix: string;
  readonly value: string;
}

const NO_VALUES: ValueBudgets = { terms: [], name: "", unknown: [] };

/** The templates by their subjects. */
export class BudgetTemplates {
  readonly #bySubject: ReadonlyMap<string, readonly BudgetTerms[]>;
  readonly #values: BudgetValues;

  constructor(templates: readonly BudgetTerms[], values: BudgetValues) {
    this.#bySubject = Map.groupBy(templates, ({ scope, subject }) => `${scope} ${subject}`);
    this.#values = values;
  }

  get isEmpty(): boolean {
    return this.#bySubject.size === 0;
  }

  find(caller: Caller): ValueBudgets {
    if (this.isEmpty) return NO_VALUES;
    const terms: BudgetTerms[] = [];
    const unknown: UnknownValue[] = [];
    for (const { scope, prefix, value } of listValues(caller))
      for (const template of this.#bySubject.get(`${scope} ${prefix}${ANY_VALUE}`) ?? []) {
        if (!countsModel(template.filter_model, caller.model)) continue;
        const subject = this.#values.chooseSubject(template.id, prefix, value);
        const known = this.#values.find(template.id, subject);
        if (known) terms.push({ ...template, id: known.id, subject, subject_name: known.name });
        else unknown.push({ template, subject });
      }
    if (terms.length === 0 && unknown.length === 0) return NO_VALUES;
    return { terms, name: ` v${terms.map(({ id }) => id).join(",")}`, unknown };
  }
}

/** Returns what a call names that a template may stand for. */
function listValues({ userId, team, tags }: Caller): Value[] {
  const values: Value[] = [];
  if (team?.actor.startsWith("u") === true)
    values.push({ scope: "member", prefix: `${team.id}:`, value: team.actor.slice(1) });
  if (!tags) return values;
  for (const [key, value] of parseTags(tags.text)) values.push({ scope: "tag", prefix: `${userId}/${key}=`, value });
  if (tags.endUser !== "") values.push({ scope: "end_user", prefix: `${userId}/`, value: tags.endUser });
  return values;
}
