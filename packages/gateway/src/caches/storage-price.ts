import { listedName } from "../billing/pricing/listed-name.ts";
import { quotaAtMost, type Quota } from "../billing/money/quota.ts";
import { ceiling, ratio, reduceFraction, roundHalfUp, times, ZERO_RATIO, type Ratio } from "../billing/money/ratio.ts";
import { AppError } from "../lib/app-error.ts";
import type { CacheService } from "../providers/core/types.ts";
import type { Snapshot } from "../snapshot/types.ts";

/** A price is for a million tokens and an hour. */
const TOKEN_SECONDS = reduceFraction(1n, 1_000_000n * 3_600n);

interface Stored {
  /** As the client names it. */
  readonly model: string;
  readonly upstreamModel: string;
  readonly group: string;
  readonly service: CacheService;
}

/** Returns the quota units of one token and second. Throws `model_price_error` for a model without a price. */
export function findStorageRate(
  { model, upstreamModel, group, service }: Stored,
  { options, prices }: Pick<Snapshot, "options" | "prices">,
): Ratio {
  const { CacheStoragePrices, QuotaPerUnit, SelfUseModeEnabled } = options;
  const name = [model, listedName(model)].find((one) => Object.hasOwn(CacheStoragePrices, one));
  const price = name === undefined ? service.storagePrice(upstreamModel) : CacheStoragePrices[name];
  if (price === undefined) {
    if (SelfUseModeEnabled) return ZERO_RATIO;
    throw new AppError("model_price_error", { param: "model", values: { model: `storing a cache of ${model}` } });
  }
  const perUnit = times(ratio(price), ratio(QuotaPerUnit));
  return times(times(perUnit, TOKEN_SECONDS), ratio(prices.groupRatio(group)));
}

interface Span {
  readonly tokens: number;
  readonly seconds: number;
}

/** Returns the price of the storage, rounded once. */
export function calculateStorage(span: Span, rate: Ratio): Quota {
  const { num, den } = price(span, rate);
  return quotaAtMost(roundHalfUp(num, den));
}

/** The same, rounded up, for a deposit that covers it. */
export function calculateStorageDeposit(span: Span, rate: Ratio): Quota {
  const { num, den } = price(span, rate);
  return quotaAtMost(ceiling(num, den));
}

function price({ tokens, seconds }: Span, rate: Ratio): Ratio {
  return times(reduceFraction(BigInt(tokens) * BigInt(Math.max(0, seconds)), 1n), rate);
}
