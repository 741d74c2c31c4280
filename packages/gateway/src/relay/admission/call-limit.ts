import type { OptionValues } from "@fairway/wire";
import type { Claims, ClaimState } from "../../limits/claims.ts";
import { callClaims } from "../../limits/request-limits.ts";
import type { Metrics } from "../../observability/metrics.ts";
import { buildRefusal } from "./admission-refusal.ts";

/**
 * Counts the model requests of a user, whatever their result. Requests that reach admission are counted there, in one
 * step with everything else; this counts the others, and refuses limited users before their body is read.
 */
export interface CallLimit {
  /** Throws for a user whose requests were refused recently and still would be. Reads local state only. */
  check(userId: number): void;
  /** Counts a request that does not pass admission. Throws `rate_limit_exceeded`. */
  take(requestId: string, userId: number): Promise<void>;
  /** Counts a request that failed before admission. Not awaited. */
  count(requestId: string, userId: number): void;
  /** Called when admission has refused a request of the user. */
  refused(userId: number, state: ClaimState): void;
}

export interface CallLimitDeps {
  readonly claims: Claims;
  readonly options: () => OptionValues;
  readonly metrics: Pick<Metrics, "limited">;
}

interface Refused {
  readonly state: ClaimState;
  /** End of the refusal, in milliseconds of the monotonic clock. */
  readonly until: number;
}

/** Most users that are remembered; the limits of further ones are checked again. */
const MAX_REMEMBERED = 10_000;

export function createCallLimit({ claims, options, metrics }: CallLimitDeps): CallLimit {
  const known = new Map<number, Refused>();
  let knownFor: OptionValues | undefined;
  const listRequestClaims = (userId: number) => callClaims(userId, options()).filter(({ kind }) => kind === "requests");
  const refused: CallLimit["refused"] = (userId, state) => {
    if (state.claim.kind !== "requests" || state.claim.scope !== "user" || state.claim.minutes === undefined) return;
    if (knownFor !== options() || known.size >= MAX_REMEMBERED) known.clear();
    knownFor = options();
    known.set(userId, { state, until: performance.now() + state.resetMs });
  };
  return {
    check(userId) {
      const found = known.size === 0 ? undefined : known.get(userId);
      if (!found) return;
      const leftMs = found.until - performance.now();
      if (knownFor !== options() || leftMs <= 0) return void known.delete(userId);
      metrics.limited("user", "requests");
      throw buildRefusal({ ...found.state, resetMs: leftMs });
    },
    async take(requestId, userId) {
      const wanted = listRequestClaims(userId);
      if (wanted.length === 0) return;
      const answer = await claims.take(requestId, wanted);
      if (answer.taken) return;
      refused(userId, answer.state);
      metrics.limited("user", "requests");
      throw buildRefusal(answer.state);
    },
    count(requestId, userId) {
      if (!options().ModelRequestRateLimitEnabled) return;
      const wanted = listRequestClaims(userId);
      // The request already has its answer, so an outage, which is reported elsewhere, does not change it.
      if (wanted.length > 0) void claims.take(requestId, wanted).catch(() => undefined);
    },
    refused,
  };
}
