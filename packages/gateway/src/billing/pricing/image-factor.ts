import type { RequestSpec } from "../../dialects/core/types.ts";
import type { Origin } from "./rates.ts";
import { reduceFraction, ONE, ratio, type Ratio, times } from "../money/ratio.ts";

const SIZES = new Map<string, Ratio>([
  ["256x256", ratio("0.4")],
  ["512x512", ratio("0.45")],
  ["1024x1792", ratio(2)],
  ["1792x1024", ratio(2)],
]);
const HD = ratio(2);
const HD_WIDE = ratio("1.5");

/** Returns the factor by which size and quality of an image change its price; 1 for everything that is not listed. */
export function imageFactor({ model, size, quality }: Pick<RequestSpec, "model" | "size" | "quality">): Ratio {
  const bySize = SIZES.get(size ?? "") ?? ONE;
  if (model !== "dall-e-3" || quality !== "hd") return bySize;
  const isWide = size === "1024x1792" || size === "1792x1024";
  return times(bySize, isWide ? HD_WIDE : HD);
}

/** Tokens of the largest image that a vendor produces at each quality. */
export const IMAGE_TOKENS: Readonly<Record<string, bigint>> = {
  low: 408n,
  medium: 1584n,
  standard: 1584n,
  high: 6240n,
  hd: 6240n,
};
/** Tokens that an image counts as if the answer reports none. */
const TOKENS_OF_RATE = 1056n;

/** Returns the factor by which quality changes the price of an image if tokens are priced and none are reported. */
export function imageTokenFactor(quality: string | undefined): Ratio {
  const tokens = IMAGE_TOKENS[quality ?? ""];
  return tokens === undefined ? ONE : reduceFraction(tokens, TOKENS_OF_RATE);
}

export const IMAGE_TIER = "image_";
const PLAIN_QUALITIES = new Set(["", "auto", "low", "medium", "standard"]);
/** Pixels that the list price of one image covers. */
const LARGEST_PLAIN = 2048 * 2048;

/** Returns the tier of an image that is larger or finer than the list price of one image covers. */
export function imageTier(size: string | undefined, quality = ""): string | undefined {
  const wanted = quality.trim().toLowerCase();
  if (!PLAIN_QUALITIES.has(wanted)) return `${IMAGE_TIER}${wanted.slice(0, 32)}`;
  const [, width = 0, height = 0] = /^(\d+)\s*[x*]\s*(\d+)$/i.exec(size ?? "") ?? [];
  const isLarge = /^[48]k$/i.test(size ?? "") || Number(width) * Number(height) > LARGEST_PLAIN;
  return isLarge ? `${IMAGE_TIER}4k` : undefined;
}

/** Returns the call under the name of the model whose price it has. */
export function pricedSpec<T extends { readonly model: string }>({ pricedAs }: Pick<Origin, "pricedAs">, spec: T): T {
  return pricedAs === undefined ? spec : { ...spec, model: pricedAs };
}
