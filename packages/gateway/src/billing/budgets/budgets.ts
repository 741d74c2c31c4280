import { systemClock, type Clock } from "../../lib/clock.ts";
import { inChunks } from "../../lib/chunks.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Logger } from "../../observability/log.ts";
import type { RawDatabase } from "../../storage/engines/raw.ts";
import { readSubjectNames } from "../../storage/row-names.ts";
import type {
  BudgetHold,
  BudgetRefusal,
  BudgetReservations,
  BudgetSubjects,
  BudgetTerms,
  BudgetUse,
} from "./budget.ts";
import { isOverBudget, TERMS } from "./budget.ts";
import { BudgetIndex, countsSomething, type BudgetSet, type CallerSubjects } from "./lookup.ts";
import { openValue } from "./open-value.ts";
import { BudgetValues, type UnknownValue } from "./values.ts";
import { BudgetRefusals } from "./refusals.ts";
import { ZERO, type Quota } from "../money/quota.ts";

/**
 * Limits of spending in windows of time. A request reserves in every budget that counts it, in all or in none,
 * so that concurrent requests cannot spend the same remainder twice. Its settlement names the budgets that count it,
 * and the ledger charges them together with the balance.
 */
export interface Budgets {
  /** True while there are no budgets: then callers can skip all checks. */
  readonly isEmpty: boolean;
  /** Reads the list of budgets from the database. */
  reload(): Promise<void>;
  /** False if no budget concerns such requests, whichever channel and group serve them. */
  mayConcern(subjects: CallerSubjects): boolean;
  /** False if no budget has to be checked for the request. */
  concerns(use: Pick<BudgetUse, "subjects" | "held">): boolean;
  /** Returns the member of a settlement that names the budgets that count it now; empty if there are none. */
  counting(subjects: BudgetSubjects): { readonly budgets?: readonly number[] };
  /**
   * Reserves `amount` instead of what is held, or up to `wished` as far as the budgets allow, in all budgets or in
   * none. Returns undefined if nothing is reserved. Changes nothing if the request has ended. Throws
   * `budgets_unavailable` if a hard budget cannot be checked.
   */
  reserve(use: BudgetUse, amount: Quota, wished?: Quota): Promise<BudgetHold | BudgetRefusal | undefined>;
  /** Like `reserve`, for a running answer. Never rejects: an answer does not end because budgets cannot be checked. */
  extend(use: BudgetUse, amount: Quota): Promise<BudgetHold | BudgetRefusal | undefined>;
  /** Releases the reservation of a request without charging it. Runs in the background. */
  release(use: BudgetUse): void;
  /** Amounts that are reserved outside of the database, by budget. */
  heldElsewhere(): Promise<ReadonlyMap<number, number>>;
  /** Reads the states of budgets again that were changed in the database by hand. Rejects if that is not possible. */
  restate(ids: readonly number[]): Promise<void>;
  /** Releases reservations that no longer belong to a hold; returns how many. */
  reap(): Promise<number>;
  /** Resolves when no operation is pending, or after `ms`. */
  idle(ms: number): Promise<void>;
}

/** The consequence for a request whose budgets could not be checked. */
export type BudgetOutage =
  | "refused" // the request was refused because of a hard budget
  | "passed"; // the request continued without a reservation

export interface BudgetsSettings {
  readonly database: RawDatabase;
  /** Reservations of the ledger that books the charges. */
  readonly reservations: BudgetReservations;
  readonly log: Logger;
  /** Default: that of the system. */
  readonly clock?: Clock;
  /** Most values of one template that have a budget of their own; default 10,000. */
  readonly mostValues?: number;
  /** Must not throw. */
  readonly onOutage: (meaning: BudgetOutage) => void;
}

const RETRY_AFTER_MS = 1_000;
const NO_IDS: ReadonlySet<number> = new Set();

/** Starts without budgets: `reload` reads them from the database. */
export function createBudgets(settings: BudgetsSettings): Budgets {
  return new KnownBudgets(settings);
}

class KnownBudgets implements Budgets {
  readonly #settings: BudgetsSettings & { readonly clock: Clock };
  readonly #values: BudgetValues;
  /** Values of templates that are being opened, by template and subject. */
  readonly #opening = new Map<string, Promise<void>>();
  #index = new BudgetIndex([]);
  /** The number of reads begun, and the read that filled the index: an older read that finishes later is ignored. */
  #reads = 0;
  #indexed = 0;
  readonly #refusals: BudgetRefusals;

  constructor(settings: BudgetsSettings) {
    this.#settings = { clock: systemClock, ...settings };
    this.#values = new BudgetValues(settings.mostValues);
    this.#refusals = new BudgetRefusals(this.#settings);
  }

  get isEmpty(): boolean {
    return this.#index.isEmpty;
  }

  async reload(): Promise<void> {
    const read = (this.#reads += 1);
    const { database } = this.#settings;
    const rows = await database.rows<BudgetTerms & { readonly template_id: number }>(
      `select ${TERMS}, template_id from budgets order by id`,
      [],
    );
    const terms = rows.filter(({ template_id: template }) => template === 0);
    const values = rows.filter(({ template_id: template }) => template !== 0);
    const members = values.filter(({ scope }) => scope === "member");
    const findSubjectName = await readSubjectNames(database, [...terms, ...members]);
    const teamByWallet = await readWallets(database, terms);
    const known = terms.map((one) => ({ ...one, subject_name: findSubjectName(one) }));
    if (read < this.#indexed) return;
    const named = values.map((one) => ({ ...one, name: one.scope === "member" ? findSubjectName(one) : "" }));
    this.#values.replace(named, read);
    this.#index = new BudgetIndex(known, teamByWallet, this.#values);
    this.#indexed = read;
    this.#refusals.forget();
  }

  mayConcern(subjects: CallerSubjects): boolean {
    return this.#index.mayConcern(subjects);
  }

  concerns({ subjects, held }: Pick<BudgetUse, "subjects" | "held">): boolean {
    return held !== undefined || countsSomething(this.#index.find(subjects));
  }

  counting(subjects: BudgetSubjects): { readonly budgets?: readonly number[] } {
    return this.#index.find(subjects).counted;
  }

  async reserve(use: BudgetUse, amount: Quota, wished?: Quota): Promise<BudgetHold | BudgetRefusal | undefined> {
    let wanted = this.#index.find(use.subjects);
    try {
      if (wanted.unknown.length > 0) wanted = await this.#openValues(use.subjects, wanted);
      if (isReserved(use.held, wanted, wished ?? amount)) return use.held;
      return await this.#place(use, wanted, { amount, wished });
    } catch (cause) {
      if (!needsMore(use.held, wanted, amount)) return this.#passed(use, wanted, cause);
      this.#settings.onOutage("refused");
      throw new AppError("budgets_unavailable", { cause, retryAfterMs: RETRY_AFTER_MS });
    }
  }

  async extend(use: BudgetUse, amount: Quota): Promise<BudgetHold | BudgetRefusal | undefined> {
    const wanted = this.#index.find(use.subjects);
    if (isReserved(use.held, wanted, amount)) return use.held;
    return this.#place(use, wanted, { amount }).catch((error: unknown) => this.#passed(use, wanted, error));
  }

  /** Opens the budgets of values that a template has not seen yet. */
  async #openValues(subjects: BudgetSubjects, first: BudgetSet): Promise<BudgetSet> {
    let wanted = first;
    // A value beyond the bound counts in the budget of all others, which may have to be opened too.
    for (let step = 0; step < 2 && wanted.unknown.length > 0; step += 1) {
      await Promise.all(wanted.unknown.map((value) => this.#openOnce(value)));
      wanted = this.#index.find(subjects);
    }
    return wanted;
  }

  #openOnce(value: UnknownValue): Promise<void> {
    const name = `${value.template.id} ${value.subject}`;
    const known = this.#opening.get(name);
    if (known) return known;
    const opening = this.#open(value).finally(() => this.#opening.delete(name));
    this.#opening.set(name, opening);
    return opening;
  }

  async #open(value: UnknownValue): Promise<void> {
    const { id } = value.template;
    const opened = await openValue(this.#settings, value);
    if (opened === "gone") return;
    if (opened !== "full") {
      this.#values.add(id, value.subject, { ...opened, read: this.#reads });
      return;
    }
    // With all of them in memory, further values need no query.
    const sql = "select id, subject from budgets where template_id = ?";
    const rows = await this.#settings.database.rows<{ id: number; subject: string }>(sql, [id]);
    for (const row of rows) this.#values.add(id, row.subject, { id: row.id, name: "", read: this.#reads });
  }

  async #place(
    { requestId, subjects: { userId }, held }: BudgetUse,
    wanted: BudgetSet,
    { amount, wished }: { readonly amount: Quota; readonly wished?: Quota | undefined },
  ): Promise<BudgetHold | BudgetRefusal> {
    const asked = allAsked(held, wanted);
    const placing = { requestId, userId, wanted: wanted.terms, amount, wished, held, asked };
    const placed = await this.#settings.reservations.place(placing);
    if (isOverBudget(placed)) {
      this.#refusals.note(placed);
      return addSubjectName(placed, wanted);
    }
    if (!placed && held) return { ...held, asked };
    return { amount: placed?.granted ?? amount, ids: wanted.ids, asked };
  }

  /** Admits a request without a reservation; it is charged when it ends. */
  #passed({ requestId, held }: BudgetUse, wanted: BudgetSet, error: unknown): BudgetHold {
    this.#settings.onOutage("passed");
    this.#settings.log.warn("a budget could not be checked; its request continues", { error, request_id: requestId });
    return { amount: held?.amount ?? ZERO, ids: held?.ids ?? NO_IDS, asked: allAsked(held, wanted) };
  }

  release({ requestId, held }: BudgetUse): void {
    if (held) this.#settings.reservations.release(requestId);
  }

  heldElsewhere(): Promise<ReadonlyMap<number, number>> {
    return this.#settings.reservations.heldElsewhere();
  }

  restate(ids: readonly number[]): Promise<void> {
    return this.#settings.reservations.restate(ids);
  }

  reap(): Promise<number> {
    return this.#settings.reservations.reap();
  }

  async idle(ms: number): Promise<void> {
    await Promise.all([this.#settings.reservations.idle(ms), this.#refusals.idle(ms)]);
  }
}

/** Returns true if nothing has to be written. */
function isReserved(held: BudgetHold | undefined, wanted: BudgetSet, amount: Quota): boolean {
  const { size } = wanted.ids;
  if (!held) return size === 0 || amount === ZERO;
  const isSame = held.ids === wanted.ids || (held.ids.size === size && held.ids.isSubsetOf(wanted.ids));
  return isSame && (size === 0 || held.amount === amount);
}

/** Returns true if a hard budget has to cover more than it does now. */
function needsMore(held: BudgetHold | undefined, wanted: BudgetSet, amount: Quota): boolean {
  if (wanted.unknown.some(({ template }) => template.is_hard === 1)) return true;
  return wanted.terms.some(({ id, is_hard }) => is_hard === 1 && (!held?.ids.has(id) || amount > held.amount));
}

function allAsked(held: BudgetHold | undefined, wanted: BudgetSet): ReadonlySet<number> {
  return held ? held.asked.union(wanted.ids) : wanted.ids;
}

/** Adds the name of the subject, which the stores of reservations do not know. */
function addSubjectName({ budget, endsAt }: BudgetRefusal, { terms }: BudgetSet): BudgetRefusal {
  const { subject_name: name = "" } = terms.find(({ id }) => id === budget.id) ?? {};
  return { budget: { ...budget, subject_name: name }, endsAt };
}

const IDS_PER_STATEMENT = 500;

/** Returns the teams of budgets by their accounts. */
async function readWallets(
  database: Pick<RawDatabase, "rows">,
  terms: readonly BudgetTerms[],
): Promise<ReadonlyMap<number, number>> {
  const ids = new Set(terms.filter(({ scope }) => scope === "team").map(({ subject }) => Number(subject)));
  const teamByWallet = new Map<number, number>();
  for (const some of inChunks([...ids], IDS_PER_STATEMENT)) {
    const places = some.map(() => "?").join(", ");
    const select = `select id, account_id from teams where id in (${places})`;
    for (const { id, account_id: account } of await database.rows<{ id: number; account_id: number }>(select, some))
      teamByWallet.set(account, id);
  }
  return teamByWallet;
}
