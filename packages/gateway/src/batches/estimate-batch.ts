import { ZERO, type Quota } from "../billing/money/quota.ts";
import type { Caller } from "../identity/authentication/caller.ts";
import type { Operation, RequestSpec } from "../dialects/core/types.ts";
import { AppError, invalidRequest } from "../lib/app-error.ts";
import type { InlineItems } from "./inline/read-items.ts";
import { calculateDeposit, estimateItem } from "./pricing/items.ts";
import { freezeTerms, openTerms, type BatchTerms } from "./pricing/terms.ts";
import type { BatchDeps } from "./types.ts";

/** The items of one model, as the row of a batch stores them. */
export interface ModelEstimate {
  readonly upstream: string;
  readonly items: number;
  /** Quota units. */
  readonly estimate: number;
  /** Estimated tokens of all prompts. */
  readonly promptTokens: number;
  /** Items without a limit of their output. */
  readonly uncapped: number;
}

export interface BatchEstimate {
  readonly models: Readonly<Record<string, ModelEstimate>>;
  /** The deposit. */
  readonly amount: Quota;
  readonly terms: BatchTerms;
}

type EstimatedItems = Pick<InlineItems, "models"> & { readonly operation: Operation };

interface Estimating {
  readonly group: string;
  readonly caller: Caller;
  /** Returns the upstream's name of a model. */
  readonly rename: (model: string) => string;
  /** Returns the member that names the model of an item. */
  readonly place: (item: number) => string;
}

/** Freezes the prices of a batch, and adds up what its items may cost. Throws for a model without a price. */
export function estimateBatch(
  items: EstimatedItems,
  { group, caller, rename, place }: Estimating,
  deps: Pick<BatchDeps, "snapshots" | "budgets">,
): BatchEstimate {
  const { prices, options } = deps.snapshots.current();
  const terms = freeze(items, group, place, deps);
  const open = openTerms(terms);
  const models: Record<string, ModelEstimate> = {};
  let sum = 0;
  for (const [model, { specs }] of items.models) {
    const estimates = specs.map((spec) => estimateItem(open, spec, { prices, options }));
    const own = estimates.reduce((all, { amount }) => all + amount, 0);
    const uncapped = estimates.filter(({ isUncapped }) => isUncapped).length;
    const promptTokens = sumPrompts(specs);
    models[model] = { upstream: rename(model), items: specs.length, estimate: own, promptTokens, uncapped };
    sum += own;
  }
  const isCovered = !caller.isUnlimited || !deps.budgets.isEmpty;
  return { models, amount: sum === 0 ? ZERO : calculateDeposit(sum, options, isCovered), terms };
}

/** Returns the estimated input tokens of items. */
export function sumPrompts(specs: readonly Pick<RequestSpec, "promptEstimate">[]): number {
  return specs.reduce((all, { promptEstimate }) => all + promptEstimate, 0);
}

/** Answers without a limit can pass any reservation, so limited callers have to set one in every request. */
export function isCapMissing(
  { models }: BatchEstimate,
  { isUnlimited }: Caller,
  { snapshots, budgets }: Pick<BatchDeps, "snapshots" | "budgets">,
): boolean {
  const isLimited = !isUnlimited || !budgets.isEmpty || snapshots.current().options.BatchUncapped === "refuse";
  return isLimited && Object.values(models).some(({ uncapped }) => uncapped > 0);
}

function freeze(
  { models, operation }: EstimatedItems,
  group: string,
  place: Estimating["place"],
  { snapshots }: Pick<BatchDeps, "snapshots">,
): BatchTerms {
  const { prices, options } = snapshots.current();
  try {
    return freezeTerms({ models: models.keys(), operation, group }, { prices, options });
  } catch (error) {
    const { code, message } = AppError.from(error);
    if (code !== "model_price_error") throw error;
    const unpriced = [...models].find(([model]) => !prices.charged(model));
    const param = place(unpriced?.[1].first ?? 0);
    throw invalidRequest(param, `${param}: ${message}`);
  }
}
