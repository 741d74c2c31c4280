import type { LogFallback } from "@fairway/wire";
import type { FallbackNote } from "../request/fallbacks.ts";

const LONGEST_NAME = 64;

/** Returns what a log row records of a request that looked for another model: names of clients are cut. */
export function describeFallback({ from, reason, hops }: FallbackNote): LogFallback {
  return {
    from: from.slice(0, LONGEST_NAME),
    reason,
    hops: hops.map(({ model, outcome, isSkipped }) => ({
      model: model.slice(0, LONGEST_NAME),
      outcome: outcome.slice(0, LONGEST_NAME),
      is_skipped: isSkipped,
    })),
  };
}
