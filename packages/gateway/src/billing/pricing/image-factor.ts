import type { RequestSpec } from "../../dialects/core/types.ts";
import { ONE, ratio, type Ratio, times } from "../money/ratio.ts";

const SIZES = new Map<string, Ratio>([
  ["256x256", ratio("0.4")],
  ["512x512", ratio("0.45")],
  ["1024x1792", ratio(2)],
  ["1792x1024", ratio(2)],
]);
const HD = ratio(2);
const HD_WIDE = ratio("1.5");

/** How the size and quality of an image change its price; 1 for everything that is not listed. */
export function imageFactor({ model, size, quality }: Pick<RequestSpec, "model" | "size" | "quality">): Ratio {
  const bySize = SIZES.get(size ?? "") ?? ONE;
  if (model !== "dall-e-3" || quality !== "hd") return bySize;
  const isWide = size === "1024x1792" || size === "1792x1024";
  return times(bySize, isWide ? HD_WIDE : HD);
}
