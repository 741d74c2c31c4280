import type { Outbound } from "../../lib/net/outbound.ts";
import { isObject } from "../../lib/text/json.ts";
import { findTokenCost, RATIO_DOLLARS, type ModelCost } from "./prices.ts";

/** A gateway that may publish its prices. */
export interface Publisher {
  /** Without a slash at the end. */
  readonly address: string;
  /** Sent with each call; "" means none. */
  readonly key: string;
}

/** A parsed response. */
type Answer = Readonly<Record<string, unknown>>;
type Read = (answer: Answer) => ReadonlyMap<string, ModelCost>;

/** The calls of compatible gateways and LiteLLM that return prices. */
const CALLS: readonly (readonly [path: string, read: Read])[] = [
  ["/api/pricing", priceRows],
  ["/api/ratio_config", ratioTables],
  ["/api/available_model", readModelPrices],
  ["/model/info", deployments],
];

export const PRICE_PATHS = CALLS.map(([path]) => path);

/** A list of a thousand models needs half of this. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Returns prices by model from the first call that has any; an empty map if none has. Rejects if there is no response.
 */
export async function publishedPrices(
  outbound: Outbound,
  { address, key }: Publisher,
): Promise<ReadonlyMap<string, ModelCost>> {
  const headers: Record<string, string> = key === "" ? {} : { authorization: `Bearer ${key}` };
  for (const [path, read] of CALLS) {
    const call = { method: "GET", url: `${address}${path}`, headers, maxBytes: MAX_BYTES } as const;
    const answer = await outbound.json(call);
    const prices = answer === undefined ? new Map<string, ModelCost>() : read(answer);
    if (prices.size > 0) return prices;
  }
  return new Map();
}

function numberIn(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Returns true if the model has a price: most gateways show 0 for a model without one. */
function isCharged(cost: ModelCost): boolean {
  return "call" in cost ? cost.call > 0 : cost.input > 0;
}

/** Ratio that other gateways show for a model without a price. */
const UNPRICED_RATIO = 37.5;

interface Ratios {
  readonly ratio: number;
  readonly completion?: number | undefined;
  readonly cache?: number | undefined;
}

function ofRatios({ ratio, completion, cache }: Ratios): ModelCost {
  const input = ratio * RATIO_DOLLARS;
  const times = (factor: number | undefined) => (factor === undefined ? undefined : input * factor);
  return { input, output: times(completion), cachedInput: times(cache) };
}

/** Reads `data` with a row for each model. */
function priceRows({ data }: Answer): Map<string, ModelCost> {
  const prices = new Map<string, ModelCost>();
  for (const row of Array.isArray(data) ? data.filter(isObject) : []) {
    const { model_name: model, quota_type: type } = row;
    const ratio = numberIn(row["model_ratio"]) ?? 0;
    const completion = numberIn(row["completion_ratio"]);
    const isUnpriced = ratio === UNPRICED_RATIO && (completion ?? 1) === 1;
    const cost: ModelCost =
      type === 1
        ? { call: numberIn(row["model_price"]) ?? 0 }
        : ofRatios({ ratio, completion, cache: numberIn(row["cache_ratio"]) });
    if (typeof model === "string" && isCharged(cost) && !(type !== 1 && isUnpriced)) prices.set(model, cost);
  }
  return prices;
}

/** Reads `data` with a table for each kind of ratio. */
function ratioTables({ data }: Answer): Map<string, ModelCost> {
  const table = (name: string) => {
    const found = isObject(data) ? data[name] : undefined;
    return isObject(found) ? found : {};
  };
  const [completions, caches] = [table("completion_ratio"), table("cache_ratio")];
  const byToken = Object.entries(table("model_ratio")).map(([model, ratio]): [string, ModelCost] => [
    model,
    ofRatios({
      ratio: numberIn(ratio) ?? 0,
      completion: numberIn(completions[model]),
      cache: numberIn(caches[model]),
    }),
  ]);
  const byCall = Object.entries(table("model_price")).map(([model, call]): [string, ModelCost] => [
    model,
    { call: numberIn(call) ?? 0 },
  ]);
  return new Map([...byToken, ...byCall].filter(([, cost]) => isCharged(cost)));
}

/** Price in dollars of a call whose published number is 1. */
const CALL_DOLLARS = 0.002;

/** Reads `data` with models by name, each with a `price` of ratios for input and output. */
function readModelPrices({ data }: Answer): Map<string, ModelCost> {
  const prices = new Map<string, ModelCost>();
  for (const [model, entry] of Object.entries(isObject(data) ? data : {})) {
    const price = isObject(entry) ? entry["price"] : undefined;
    if (!isObject(price)) continue;
    const input = numberIn(price["input"]) ?? 0;
    const output = numberIn(price["output"]);
    const cost: ModelCost =
      price["type"] === "times"
        ? { call: input * CALL_DOLLARS }
        : { input: input * RATIO_DOLLARS, output: output === undefined ? undefined : output * RATIO_DOLLARS };
    if (isCharged(cost)) prices.set(model, cost);
  }
  return prices;
}

/**
 * Reads `data` with a row for each deployment. If several have the same name, the highest price counts, so that none is
 * sold below its cost.
 */
function deployments({ data }: Answer): Map<string, ModelCost> {
  const prices = new Map<string, ModelCost>();
  for (const row of Array.isArray(data) ? data.filter(isObject) : []) {
    const { model_name: model } = row;
    const cost = findTokenCost(row["litellm_params"], row["model_info"]);
    if (typeof model !== "string" || cost === undefined || !isCharged(cost)) continue;
    const known = prices.get(model);
    if (known === undefined || ("input" in known && known.input < cost.input)) prices.set(model, cost);
  }
  return prices;
}
