import { estimate, type EstimateOptions } from "../../billing/pricing/estimate.ts";
import type { Price, Surcharge } from "../../billing/pricing/price.ts";
import { IMAGE_TIER, imageTier } from "../../billing/pricing/image-factor.ts";
import { scaledPrice, tiersRatio, type Surcharges } from "../../billing/pricing/surcharges.ts";
import {
  ceiling,
  reduceFraction,
  isZero,
  knownRatio,
  ONE,
  plus,
  type Ratio,
  times,
  toNumber,
  ZERO_RATIO,
} from "../../billing/money/ratio.ts";
import { quotaAtMost, ZERO, type Quota } from "../../billing/money/quota.ts";
import { billedTiers, type ServedTiers } from "../../dialects/core/served-tiers.ts";
import type { RequestSpec } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { BudgetAmounts } from "../admission/request-budgets.ts";
import { openOutput } from "./output-reservation.ts";
import type { RelayRequest } from "../request/request.ts";

/** The price of a request, frozen when it is reserved. */
export interface Terms {
  readonly price: Price;
  /** The same without the requested tiers. */
  readonly plain: Price;
  /** Highest ratio among the groups that may serve. */
  readonly groupRatio: string;
}

/** Reserves for the most expensive of several possible groups (`auto`); the group that serves is billed. */
function buildTerms({ spec }: RelayRequest, snapshot: Snapshot, groups: readonly string[]): Terms {
  const { model } = spec;
  const isSelfUse = snapshot.options.SelfUseModeEnabled;
  const { prices } = snapshot;
  const price = spec.operation === "realtime" ? prices.session(model) : prices.charged(model);
  if (!price) throw new AppError("model_price_error", { param: "model", values: { model } });
  if (spec.hostedTools && !isSelfUse) checkTools(spec.hostedTools, model, snapshot);
  const tiers = listTiers(spec, price);
  const ratios = groups.map((group) => snapshot.prices.groupRatio(group));
  return {
    price: tiers ? scaledPrice(price, tierFactor(tiers, model, snapshot)) : price,
    plain: price,
    groupRatio: ratios.reduce((highest, ratio) => (Number(ratio) > Number(highest) ? ratio : highest)),
  };
}

function listTiers({ tiers, size, quality }: RequestSpec, price: Price): readonly string[] | undefined {
  const isPerImage = price.kind === "call" && price.unit === "image" && !price.hasImageFactors;
  const tier = isPerImage ? imageTier(size, quality) : undefined;
  return tier === undefined ? tiers : [...(tiers ?? []), tier];
}

function tierFactor(tiers: readonly string[], model: string, { prices, options }: Snapshot): Ratio {
  const factor = tiersRatio(tiers, model, prices.surcharges);
  if (factor) return factor;
  if (options.SelfUseModeEnabled) return ONE;
  const tier = tiers.find((one) => !prices.surcharges.tierRatio(one, model)) ?? "";
  const [what, param] = tier.startsWith(IMAGE_TIER)
    ? [`The image tier ${tier}`, "quality"]
    : [`The service tier ${tier}`, "service_tier"];
  throw notPriced(what, tier, { model, param, option: "ServiceTierRatio" });
}

/** Returns the price of the tiers that served. If one of them has none, the requested ones are charged. */
export function servedPrice(
  { price, plain }: Pick<Terms, "price" | "plain">,
  served: ServedTiers | undefined,
  { spec, snapshot }: { readonly spec: RequestSpec; readonly snapshot: Snapshot },
): { readonly price: Price; readonly isUnpriced: boolean } {
  if (!served) return { price, isUnpriced: false };
  const asked = listTiers(spec, plain) ?? [];
  const tiers = billedTiers(asked, served);
  if (tiers.length === asked.length && tiers.every((tier) => asked.includes(tier))) return { price, isUnpriced: false };
  const factor = tiersRatio(tiers, spec.model, snapshot.prices.surcharges);
  return factor ? { price: scaledPrice(plain, factor), isUnpriced: false } : { price, isUnpriced: true };
}

function checkTools(tools: readonly string[], model: string, { prices }: Snapshot): void {
  const tool = tools.find((one) => !prices.surcharges.toolPrice(one, model));
  if (tool !== undefined) throw notPriced(`The tool ${tool}`, tool, { model, param: "tools", option: "ToolPrice" });
}

interface NotPriced {
  readonly model: string;
  readonly param: string;
  readonly option: string;
}

function notPriced(what: string, key: string, { model, param, option }: NotPriced): AppError {
  return new AppError("surcharge_not_priced", { param, values: { what, model, key, option } });
}

/** Calls that are reserved for a request that does not limit them. */
const OPEN_CALLS = 5;

/** Returns the most that hosted tools may add, within the request's limit of their calls. */
function reservedForTools(spec: Tooled, groupRatio: string, { prices, options }: Snapshot): Quota {
  if (!spec.hostedTools) return ZERO;
  const quotaPerUnit = knownRatio(String(options.QuotaPerUnit));
  return reserveTools(spec, { groupRatio, quotaPerUnit, surcharges: prices.surcharges });
}

interface ToolTerms {
  readonly surcharges: Pick<Surcharges, "toolPrice">;
  readonly groupRatio: string;
  readonly quotaPerUnit: Ratio;
}

/** The same with given prices. */
export function reserveTools(spec: Tooled, { groupRatio, quotaPerUnit, surcharges }: ToolTerms): Quota {
  const { hostedTools = [], hostedCalls = OPEN_CALLS } = spec;
  const calls = Object.fromEntries(hostedTools.map((tool) => [tool, hostedCalls]));
  let dollars = ZERO_RATIO;
  for (const { calls: count, pricePerThousand } of toolSurcharges(calls, spec, { surcharges }))
    dollars = plus(dollars, times(pricePerThousand, reduceFraction(BigInt(count), 1000n)));
  const { num, den } = times(times(dollars, quotaPerUnit), knownRatio(groupRatio));
  return quotaAtMost(ceiling(num, den));
}

type Tooled = Pick<RequestSpec, "model" | "hostedTools" | "hostedCalls">;

/** Tools without a price add nothing: a request that named one was refused, or the gateway's only user is its owner. */
export function toolSurcharges(
  calls: Readonly<Record<string, number>>,
  { model, hostedTools = [] }: Tooled,
  { surcharges }: { readonly surcharges: Pick<Surcharges, "toolPrice"> },
): Surcharge[] {
  return Object.entries(calls).flatMap(([tool, count]) => {
    // An answer names `code_interpreter` without its requested size.
    const asked = [tool, ...hostedTools.filter((name) => name.startsWith(`${tool}_`))];
    const prices = asked.flatMap((name) => surcharges.toolPrice(name, model) ?? []);
    const pricePerThousand = prices.reduce((a, b) => (toNumber(b) > toNumber(a) ? b : a), ZERO_RATIO);
    return isZero(pricePerThousand) ? [] : [{ calls: count, pricePerThousand }];
  });
}

/** Everything that a reservation depends on, computed once for each request. */
export interface RequestTerms extends Terms {
  /** False if the group or the price makes the request free: nothing is reserved then. */
  readonly isPriced: boolean;
  readonly options: EstimateOptions & { readonly quotaPerUnit: Ratio };
  /** Output tokens of a request without a cap; undefined for one that names its cap or grows while it runs. */
  readonly open: number | undefined;
  /** Reserved for tools that the vendor runs. */
  readonly tools: Quota;
  /** The smallest amount that admits the request, if it has no cap. */
  readonly amount: Quota;
  /** The cost of the longest answer to a request without a cap. */
  readonly wished: Quota | undefined;
}

/** Throws `model_price_error` or `surcharge_not_priced`. */
export function requestTerms(request: RelayRequest, snapshot: Snapshot, groups: readonly string[]): RequestTerms {
  const { spec } = request;
  const { price, plain, groupRatio } = buildTerms(request, snapshot, groups);
  const options = estimateOptions(snapshot);
  const tools = reservedForTools(spec, groupRatio, snapshot);
  const common = { price, groupRatio, options, tools };
  const open = openOutput(request, snapshot);
  const smallest = Math.min(options.defaultOutputTokens, open ?? Infinity);
  return {
    price,
    plain,
    groupRatio,
    options,
    tools,
    isPriced: isPriced({ price, groupRatio }),
    open,
    amount: estimateQuota(open === undefined ? spec : { ...spec, outputCap: smallest }, common),
    wished: open === undefined ? undefined : estimateQuota({ ...spec, outputCap: open }, common),
  };
}

/** False if the group or the price makes the request free. */
export function isPriced({ groupRatio, price }: Pick<Terms, "groupRatio" | "price">): boolean {
  return Number(groupRatio) !== 0 && !price.isFree;
}

/** Returns what a request with these members reserves, tools included. */
export function estimateQuota(
  spec: RequestSpec,
  { price, groupRatio, options, tools }: Pick<RequestTerms, "price" | "groupRatio" | "options" | "tools">,
): Quota {
  const tokens = estimate(spec, price, groupRatio, options);
  return tools === 0 ? tokens : quotaAtMost(BigInt(tokens) + BigInt(tools));
}

function estimateOptions({ options }: Snapshot) {
  return {
    preConsumedQuota: options.PreConsumedQuota,
    defaultOutputTokens: options.DefaultOutputTokens,
    quotaPerUnit: knownRatio(String(options.QuotaPerUnit)),
  };
}

/** Returns what the request reserves in budgets; 0 if it costs nothing. */
export function buildBudgetAmounts({ isPriced, amount, wished }: RequestTerms): BudgetAmounts {
  if (!isPriced) return { amount: ZERO };
  return wished === undefined ? { amount } : { amount, wished };
}
