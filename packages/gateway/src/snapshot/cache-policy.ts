import type { OptionValues } from "@fairway/wire";
import { ratio, type Ratio } from "../billing/money/ratio.ts";
import { chosenBy, type ScopeMatcher } from "./scope-matcher.ts";

/** The policy of the response cache, from the options. */
export interface CachePolicy {
  readonly keepMs: number;
  readonly maxBytes: number;
  /** Fraction of the regular charge. */
  readonly ratio: Ratio;
  readonly concerns: ScopeMatcher;
  /** Part of every key. */
  readonly version: string;
}

const MEGABYTE = 1024 * 1024;

/** Returns the policy; undefined while the cache is off. */
export function resolveCachePolicy(options: OptionValues): CachePolicy | undefined {
  if (!options.ResponseCacheEnabled) return undefined;
  return {
    keepMs: options.ResponseCacheSeconds * 1000,
    maxBytes: options.ResponseCacheMegabytes * MEGABYTE,
    ratio: ratio(options.ResponseCacheRatio),
    concerns: chosenBy(options.ResponseCacheGroups, options.ResponseCacheModels),
    version: options.ResponseCacheVersion,
  };
}
