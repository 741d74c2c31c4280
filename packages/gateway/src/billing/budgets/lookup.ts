import { parseTags } from "@fairway/wire";
import type { BudgetScope, BudgetSubjects, BudgetTags, BudgetTeam, BudgetTerms } from "./budget.ts";

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
  readonly #bySubject: ReadonlyMap<BudgetScope, ReadonlyMap<string, SubjectBudgets>>;
  readonly #sets = new Map<string, BudgetSet>();
  readonly #teamByWallet: ReadonlyMap<number, number>;
  /** False if no budget is of a tag or an end user: then calls do not read theirs. */
  readonly #hasTags: boolean;

  /** `teamByWallet` has the teams of these budgets by their accounts. */
  constructor(budgets: readonly BudgetTerms[], teamByWallet: ReadonlyMap<number, number> = new Map()) {
    this.#teamByWallet = teamByWallet;
    const byScope = Map.groupBy(budgets, ({ scope }) => scope);
    this.#bySubject = new Map(
      [...byScope].map(([scope, some]) => [
        scope,
        new Map([...Map.groupBy(some, ({ subject }) => subject)].map(([subject, terms]) => [subject, describe(terms)])),
      ]),
    );
    this.#hasTags = byScope.has("tag") || byScope.has("end_user");
  }

  get isEmpty(): boolean {
    return this.#bySubject.size === 0;
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
    const ofTags = tags && this.#hasTags ? this.#findTagged(userId, tags) : NO_PART;
    const isFiltered =
      areFiltered(ofUser, ofGroup, ofModel) || areFiltered(ofChannel, ofToken, ofTeam) || ofTags.isFiltered;
    const name = `${ofUser.first} ${ofGroup.first} ${ofModel.first} ${ofChannel.first} ${ofToken.first}${ofTeam.name}${ofTags.name}${isFiltered ? ` ${model}` : ""}`;
    const known = this.#sets.get(name);
    if (known) return known;
    const plain = [ofUser, ofGroup, ofModel, ofChannel, ofToken].flatMap(({ terms }) => terms);
    const all = [...plain, ...ofTeam.terms, ...ofTags.terms];
    const set = buildSet(all.filter(({ filter_model: filter }) => countsModel(filter, model)));
    if (this.#sets.size >= MAX_SETS) this.#sets.clear();
    this.#sets.set(name, set);
    return set;
  }

  /** False if no budget concerns such requests, whichever channel and group serve them. */
  mayConcern(subjects: CallerSubjects): boolean {
    if (this.isEmpty) return false;
    if (this.#bySubject.has("group") || this.#bySubject.has("channel")) return true;
    return this.find({ ...subjects, group: "", channelId: 0 }).terms.length > 0;
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
  #findTagged(userId: number, { text, endUser }: BudgetTags): PartBudgets {
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

/** True if a budget with this filter counts the calls of a model: an exact name, or a beginning and `*`. */
export function countsModel(filter: string, model: string): boolean {
  if (filter === "") return true;
  return filter.endsWith("*") ? model.startsWith(filter.slice(0, -1)) : model === filter;
}

function buildSet(terms: readonly BudgetTerms[]): BudgetSet {
  if (terms.length === 0) return NO_BUDGETS;
  const budgets = terms.map(({ id }) => id);
  return { terms, ids: new Set(budgets), counted: { budgets } };
}

const NONE: SubjectBudgets = { terms: [], first: 0, isFiltered: false };
const NO_BUDGETS: BudgetSet = { terms: [], ids: new Set(), counted: {} };
