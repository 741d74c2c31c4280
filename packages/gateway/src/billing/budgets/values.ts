import { ANY_VALUE, MAX_BUDGET_VALUES, OTHER_VALUE } from "@fairway/wire";
import type { BudgetTerms } from "./budget.ts";

/** The budget of one value of a template. */
export interface ValueBudget {
  readonly id: number;
  /** The name of a member; "" for tags and end users, which are names themselves. */
  readonly name: string;
}

/** A value of a template that has no budget yet, as far as this process knows. */
export interface UnknownValue {
  readonly template: BudgetTerms;
  readonly subject: string;
}

/** A row of `budgets` that belongs to a template. */
export interface ValueRow {
  readonly id: number;
  readonly template_id: number;
  readonly subject: string;
  readonly name: string;
}

interface Entry extends ValueBudget {
  /** The number of reads of all budgets that had begun when this entry was added. */
  readonly read: number;
}

/**
 * The budgets of single values, by template and subject. A template has a bounded number of them, so that a client
 * that invents values costs neither memory nor queries; the others share one budget.
 */
export class BudgetValues {
  readonly #most: number;
  #byTemplate = new Map<number, Map<string, Entry>>();

  constructor(most: number = MAX_BUDGET_VALUES) {
    this.#most = most;
  }

  /** Returns the subject whose budget counts a value. `prefix` is that of the template without its `*`. */
  chooseSubject(template: number, prefix: string, value: string): string {
    const own = prefix + value;
    // The subject of the template itself.
    if (value === ANY_VALUE) return prefix + OTHER_VALUE;
    const known = this.#byTemplate.get(template);
    return known && known.size >= this.#most && !known.has(own) ? prefix + OTHER_VALUE : own;
  }

  find(template: number, subject: string): ValueBudget | undefined {
    return this.#byTemplate.get(template)?.get(subject);
  }

  add(template: number, subject: string, entry: Entry): void {
    const known = this.#byTemplate.get(template);
    if (known) known.set(subject, entry);
    else this.#byTemplate.set(template, new Map([[subject, entry]]));
  }

  /**
   * Takes over what a read has found. What was added since it began stays: the read may have missed it, and a request
   * that reserves there must find it again at its end.
   */
  replace(rows: readonly ValueRow[], read: number): void {
    const before = this.#byTemplate;
    this.#byTemplate = new Map();
    for (const { id, template_id: template, subject, name } of rows) this.add(template, subject, { id, name, read });
    for (const [template, entries] of before)
      for (const [subject, entry] of entries)
        if (entry.read >= read && !this.find(template, subject)) this.add(template, subject, entry);
  }
}
