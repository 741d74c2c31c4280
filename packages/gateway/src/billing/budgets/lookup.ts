import { isBudgetTemplate, parseTags } from "@fairway/wire";
import type { BudgetScope, BudgetSubjects, BudgetTags, BudgetTeam, BudgetTerms } from "./budget.ts";
import { countsModel } from "./filter.ts";
import { BudgetTemplates } from "./templates.ts";
import { BudgetValues, type UnknownValue } from "./values.ts";

/** The budgets that count one request, in ascending id order within a scope; the same object for all such requests. */
export interface BudgetSet {
  readonly terms: readonly BudgetTerms[];
  readonly ids: ReadonlySet<number>;
  /** The member of a settlement that names them; empty if there are none. */
  readonly counted: { readonly budgets?: readonly number[] };
  /** Values of templates whose budgets have to be opened before they can count the request. */
  readonly unknown: readonly UnknownValue[];
}

/** Maximum number of cached sets; beyond that, sets are built again. */
const MAX_SETS = 10_000;

/** An index in memory of all budgets by their subjects. */
export class BudgetIndex {
  readonly #bySubject: ReadonlyMap<BudgetScope, ReadonlyMap<string, SubjectBudgets>>;
  readonly #sets = new Map<string, BudgetSet>();
  readonly #teamByWallet: ReadonlyMap<number, number>;
  /** False if no budget is of a tag or an end user: then calls do not read theirs. */
  readonly #hasTags: boolean;

  readonly #templates: BudgetTemplates;

  /** `teamByWallet` has the teams of these budgets by their accounts, `values` the budgets of templates. */
  constructor(
    budgets: readonly BudgetTerms[],
    teamByWallet: ReadonlyMap<number, number> = new Map(),
    values = new BudgetValues(),
  ) {
    this.#teamByWallet = teamByWallet;
    const { true: templates = [], false: plain = [] } = Object.groupBy(budgets, (one) => `${isBudgetTemplate(one)}`);
    this.#templates = new BudgetTemplates(templates, values);
    const byScope = Map.groupBy(plain, ({ scope }) => scope);
    this.#bySubject = new Map(
      [...byScope].map(([scope, some]) => [
        scope,
        new Map([...Map.groupBy(some, ({ subject }) => subject)].map(([subject, terms]) => [subject, describe(terms)])),
      ]),
    );
    this.#hasTags = byScope.has("tag") || byScope.has("end_user");
  }

  get isEmpty(): boolean {
    return this.#bySubject.size === 0 && this.#templates.isEmpty;
  }

  find(subjects: BudgetSubjects): BudgetSet {
    if (this.isEmpty) return NO_BUDGETS;
    const { tokenId, userId, group, model, channelId, team, tags } = subjects;
    const ofUser = this.#of("user", userId);
    const ofGroup = this.#of("group", group);
    const ofModel = this.#of("model", model);
    const ofChannel = this.#of("channel", channelId);
    const ofToken = tokenId === 0 ? NONE : this.#of("token", tokenId);
    const ofTeam = team ? this.#findTeam(team) : this.#findTeamOf(userId);
    const ofTags = this.#findTagged(userId, tags);
    const ofValues = this.#templates.find(subjects);
    const isFiltered =
      areFiltered(ofUser, ofGroup, ofModel) || areFiltered(ofChannel, ofToken, ofTeam) || ofTags.isFiltered;
    const name = `${ofUser.first} ${ofGroup.first} ${ofModel.first} ${ofChannel.first} ${ofToken.first}${ofTeam.name}${ofTags.name}${ofValues.name}${isFiltered ? ` ${model}` : ""}`;
    const known = ofValues.unknown.length === 0 ? this.#sets.get(name) : undefined;
    if (known) return known;
    const plain = [ofUser, ofGroup, ofModel, ofChannel, ofToken].flatMap(({ terms }) => terms);
    const all = [...plain, ...ofTeam.terms, ...ofTags.terms];
    const counting = all.filter(({ filter_model: filter }) => countsModel(filter, model));
    const set = buildSet([...counting, ...ofValues.terms]);
    // The next call finds them opened.
    if (ofValues.unknown.length > 0) return { ...set, unknown: ofValues.unknown };
    if (this.#sets.size >= MAX_SETS) this.#sets.clear();
    this.#sets.set(name, set);
    return set;
  }

  /** False if no budget concerns such requests, whichever channel and group serve them. */
  mayConcern(subjects: CallerSubjects): boolean {
    if (this.isEmpty) return false;
    if (this.#bySubject.has("group") || this.#bySubject.has("channel")) return true;
    return countsSomething(this.find({ ...subjects, group: "", channelId: 0 }));
  }

  /** Returns the budgets of a team and of the member or service account that uses its key. */
  #findTeam({ id, actor }: BudgetTeam): PartBudgets {
    const ofTeam = this.#of("team", id);
    const ofActor = actor.startsWith("s")
      ? this.#of("service_account", actor.slice(1))
      : actor === ""
        ? NONE
        : this.#of("member", `${id}:${actor.slice(1)}`);
    return {
      terms: [...ofTeam.terms, ...ofActor.terms],
      name: ` ${ofTeam.first} ${ofActor.first}`,
      isFiltered: ofTeam.isFiltered || ofActor.isFiltered,
    };
  }

  /** A call that began before its account became a team does not know the team, and counts in its budgets. */
  #findTeamOf(userId: number): PartBudgets {
    const id = this.#teamByWallet.get(userId);
    return id === undefined ? NO_PART : this.#findTeam({ id, actor: "" });
  }

  /** Returns the budgets of the tags and of the end user of an account. */
  #findTagged(userId: number, tags: BudgetTags | undefined): PartBudgets {
    if (!tags || !this.#hasTags) return NO_PART;
    const { text, endUser } = tags;
    const found = [...parseTags(text)].map(([key, value]) => this.#of("tag", `${userId}/${key}=${value}`));
    if (endUser !== "") found.push(this.#of("end_user", `${userId}/${endUser}`));
    const known = found.filter(({ first }) => first > 0);
    if (known.length === 0) return NO_PART;
    return {
      terms: known.flatMap(({ terms }) => terms),
      name: ` t${known.map(({ first }) => first).join(",")}`,
      isFiltered: known.some(({ isFiltered }) => isFiltered),
    };
  }

  #of(scope: BudgetScope, subject: string | number): SubjectBudgets {
    return this.#bySubject.get(scope)?.get(String(subject)) ?? NONE;
  }
}

/** What a request has before its channel and group are chosen. */
export type CallerSubjects = Pick<BudgetSubjects, "tokenId" | "userId" | "model" | "team" | "tags">;

/** The budgets of a team and its actor, or of tags and an end user. */
interface PartBudgets {
  readonly terms: readonly BudgetTerms[];
  /** Identifies them; "" without any. */
  readonly name: string;
  readonly isFiltered: boolean;
}

const NO_PART: PartBudgets = { terms: [], name: "", isFiltered: false };

/** The budgets of one subject. */
interface SubjectBudgets {
  readonly terms: readonly BudgetTerms[];
  /** The id that identifies them: that of the first; 0 if there are none. */
  readonly first: number;
  /** True if some of them count only the calls of certain models. */
  readonly isFiltered: boolean;
}

function describe(terms: readonly BudgetTerms[]): SubjectBudgets {
  return {
    terms,
    first: terms[0]?.id ?? 0,
    isFiltered: terms.some(({ filter_model: filter }) => filter !== ""),
  };
}

/** True if some of these budgets count only the calls of certain models. */
function areFiltered(one: Filtered, two: Filtered, three: Filtered): boolean {
  return one.isFiltered || two.isFiltered || three.isFiltered;
}

type Filtered = Pick<SubjectBudgets, "isFiltered">;

/** True if budgets count a call, or will as soon as they are opened. */
export function countsSomething({ terms, unknown }: BudgetSet): boolean {
  return terms.length > 0 || unknown.length > 0;
}

/** A value with a budget that was made by itself has no other one of the same windows: both have the same id. */
function buildSet(terms: readonly BudgetTerms[]): BudgetSet {
  if (terms.length === 0) return NO_BUDGETS;
  const byId = new Map<number, BudgetTerms>();
  for (const one of terms) if (!byId.has(one.id)) byId.set(one.id, one);
  const budgets = [...byId.keys()];
  return { terms: [...byId.values()], ids: new Set(budgets), counted: { budgets }, unknown: NO_UNKNOWN };
}

const NONE: SubjectBudgets = { terms: [], first: 0, isFiltered: false };
const NO_UNKNOWN: readonly UnknownValue[] = [];
const NO_BUDGETS: BudgetSet = { terms: [], ids: new Set(), counted: {}, unknown: NO_UNKNOWN };
