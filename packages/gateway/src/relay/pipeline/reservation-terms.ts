import { estimate } from "../../billing/pricing/estimate.ts";
import type { Price } from "../../billing/pricing/price.ts";
import { knownRatio } from "../../billing/money/ratio.ts";
import { ZERO, type Quota } from "../../billing/money/quota.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import { openOutput } from "./output-reservation.ts";
import type { RelayRequest } from "../types.ts";

/** The price of a request, frozen when it is reserved. */
export interface Terms {
  readonly price: Price;
  /** Highest ratio among the groups that may serve. */
  readonly groupRatio: string;
}

/** Of several possible groups (`auto`) the dearest is reserved; the one that serves is billed. */
export function termsOf(request: RelayRequest, snapshot: Snapshot, groups: readonly string[]): Terms {
  const { model } = request.spec;
  const price =
    snapshot.prices.find(model) ?? (snapshot.options.SelfUseModeEnabled ? snapshot.prices.selfUsePrice : undefined);
  if (!price) throw new AppError("model_price_error", { param: "model", values: { model } });
  const ratios = groups.map((group) => snapshot.prices.groupRatio(group));
  return { price, groupRatio: ratios.reduce((highest, ratio) => (Number(ratio) > Number(highest) ? ratio : highest)) };
}

/** Without a cap the least that lets a request in. */
export function estimateOf(request: RelayRequest, { price, groupRatio }: Terms, snapshot: Snapshot): Quota {
  const open = openOutput(request, snapshot) ?? Infinity;
  const options = estimateOptions(snapshot);
  const defaultOutputTokens = Math.min(options.defaultOutputTokens, open);
  return estimate(request.spec, price, groupRatio, { ...options, defaultOutputTokens });
}

/** What the longest answer costs that a request without a cap can have. */
export function wishedFor(request: RelayRequest, { price, groupRatio }: Terms, snapshot: Snapshot) {
  const outputCap = openOutput(request, snapshot);
  if (outputCap === undefined) return undefined;
  return { wished: estimate({ ...request.spec, outputCap }, price, groupRatio, estimateOptions(snapshot)) };
}

export function estimateOptions({ options }: Snapshot) {
  return {
    preConsumedQuota: options.PreConsumedQuota,
    defaultOutputTokens: options.DefaultOutputTokens,
    quotaPerUnit: knownRatio(String(options.QuotaPerUnit)),
  };
}

/** What a request reserves; 0 when it costs nothing. Throws `model_price_error`. */
export function reservedAmount({
  request,
  snapshot,
  groups,
}: {
  readonly request: RelayRequest;
  readonly snapshot: Snapshot;
  readonly groups: readonly string[];
}): Quota {
  const terms = termsOf(request, snapshot, groups);
  return isPriced(terms) ? estimateOf(request, terms, snapshot) : ZERO;
}

export function isPriced(terms: Terms): boolean {
  return Number(terms.groupRatio) !== 0 && !terms.price.isFree;
}
