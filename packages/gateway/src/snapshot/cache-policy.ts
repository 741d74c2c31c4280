import type { OptionValues } from "@fairway/wire";
import { ratio, type Ratio } from "../billing/money/ratio.ts";
import { chosenBy, type ScopeMatcher } from "./scope-matcher.ts";

/** How answers are kept for equal requests, as the options describe it. */
export interface CachePolicy {
  readonly keepMs: number;
  readonly maxBytes: number;
  /** Part of the usual charge. */
  readonly ratio: Ratio;
  readonly concerns: ScopeMatcher;
  /** Part of every key. */
  readonly version: string;
}

const MEGABYTE = 1024 * 1024;

/** Undefined while nothing is kept. */
export function cachePolicyOf(options: OptionValues): CachePolicy | undefined {
  if (!options.ResponseCacheEnabled) return undefined;
  return {
    keepMs: options.ResponseCacheSeconds * 1000,
    maxBytes: options.ResponseCacheMegabytes * MEGABYTE,
    ratio: ratio(options.ResponseCacheRatio),
    concerns: chosenBy(options.ResponseCacheGroups, options.ResponseCacheModels),
    version: options.ResponseCacheVersion,
  };
}
