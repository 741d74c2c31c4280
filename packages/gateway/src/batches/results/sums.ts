import { addQuota, ZERO, type Quota } from "../../billing/money/quota.ts";
import type { Usage } from "../../dialects/core/types.ts";
import type { ItemCharge } from "../pricing/items.ts";

/** What the items of one model used and cost. */
export interface ModelSums {
  readonly model: string;
  /** Items that succeeded. */
  readonly succeeded: number;
  /** Those of them whose answer reported no usage. */
  readonly counted: number;
  readonly quota: Quota;
  /** What the same usage costs outside of batches. */
  readonly full: Quota;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  /** Calls of tools that the vendor ran. */
  readonly toolCalls: Readonly<Record<string, number>>;
}

/** Everything that the results of a batch say. */
export interface BatchSums {
  readonly succeeded: number;
  readonly failed: number;
  readonly expired: number;
  readonly cancelled: number;
  /** Pieces that are no item of the batch, or cannot be read. */
  readonly unreadable: number;
  /** Pieces about an item that the results already had. */
  readonly duplicates: number;
  /** Items that the results do not name. */
  readonly missing: number;
  readonly quota: Quota;
  readonly full: Quota;
  /** In the order of the terms; models without an answer are left out. */
  readonly models: readonly ModelSums[];
}

type Growing = { -readonly [K in keyof Omit<ModelSums, "model">]: ModelSums[K] };

/** Adds up the items of one model. */
export class ModelTotals {
  readonly model: string;
  readonly #sums: Growing = {
    succeeded: 0,
    counted: 0,
    quota: ZERO,
    full: ZERO,
    promptTokens: 0,
    completionTokens: 0,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    toolCalls: {},
  };

  constructor(model: string) {
    this.model = model;
  }

  /** Throws a RangeError, and adds nothing, if the sums are no longer safe integers. */
  add(usage: Usage, charge: ItemCharge): void {
    const sums = this.#sums;
    const [quota, full] = [addQuota(sums.quota, charge.quota), addQuota(sums.full, charge.full)];
    sums.quota = quota;
    sums.full = full;
    sums.succeeded += 1;
    if (usage.source === "counted") sums.counted += 1;
    sums.promptTokens += usage.input;
    sums.completionTokens += usage.output;
    sums.cachedTokens += usage.cachedInput;
    sums.cacheWriteTokens += usage.cacheWrite;
    sums.reasoningTokens += usage.reasoning;
    for (const [tool, calls] of Object.entries(usage.toolCalls ?? {}))
      sums.toolCalls = { ...sums.toolCalls, [tool]: (sums.toolCalls[tool] ?? 0) + calls };
  }

  get sums(): ModelSums {
    return { model: this.model, ...this.#sums };
  }
}
