import type { Clock } from "../lib/clock.ts";
import { RedisUnavailable, type RedisClient } from "../redis/client.ts";
import { readLua } from "../redis/read-lua.ts";
import { script, type Script } from "../redis/script.ts";
import {
  CLAIM_LEASE_MS,
  claimName,
  calculateCorrection,
  isConcurrency,
  LONG_AGO,
  partMs,
  type Claim,
  type ClaimAnswer,
  type Claims,
} from "./claims.ts";

export interface RedisClaimsSettings {
  readonly redis: RedisClient;
  /** Counts while Redis is unavailable. */
  readonly local: Claims;
  /** Clock for tests; default: the clock of Redis. */
  readonly clock?: Clock;
  /** Called for each call that Redis did not answer. */
  readonly onOutage: (error: unknown) => void;
}

const LATER_TIMEOUT_MS = 2_000;
/** All claims live in one slot, because the scopes of a request cross every other boundary. */
const TAG = "{lim}";

/**
 * Takes all claims of a request or none: {place, used, reset} of the one that does not fit, or {0, now, used, reset,
 * …}.
 */
const TAKE = script(readLua(import.meta.url, "./lua/claim.lua"));

/** Replaces the estimate of a request with what it has used. */
const CORRECT = script(readLua(import.meta.url, "./lua/correct-claims.lua"));

/** Extends the leases of a request. */
const RENEW = script(readLua(import.meta.url, "./lua/renew-leases.lua"));

/** Ends the leases of a request. */
const RELEASE = script(readLua(import.meta.url, "./lua/release-leases.lua"));

/** Limits across all replicas. While Redis is unavailable, each process counts alone and reports the outage. */
export function createRedisClaims({ redis, local, clock, onOutage }: RedisClaimsSettings): Claims {
  const now = () => clock?.now() ?? 0;
  const waitBudget = () => redis.getWaitBudget(redis.keys.claim(TAG, ""));
  const buildClaimKeys = (claims: readonly Claim[]) => claims.map((claim) => redis.keys.claim(TAG, claimName(claim)));
  /** False if Redis did not answer. Never rejects; sends before the first await. */
  const later = async (text: Script, claims: readonly Claim[], args: readonly (string | number)[]) => {
    if (claims.length === 0) return true;
    try {
      await redis.sendOne({ script: text, keys: buildClaimKeys(claims), args }, LATER_TIMEOUT_MS);
      return true;
    } catch (error) {
      onOutage(error);
      return false;
    }
  };
  const takeHere = async (requestId: string, claims: readonly Claim[]): Promise<ClaimAnswer> => {
    const answer = await local.take(requestId, claims);
    return answer.taken ? { ...answer, at: { ...answer.at, isLocal: true } } : answer;
  };
  const take = async (requestId: string, claims: readonly Claim[]): Promise<ClaimAnswer> => {
    const wanted = claims.flatMap((claim) => [claim.kind, claim.limit, claim.amount, partMs(claim)]);
    const args = [now(), requestId, CLAIM_LEASE_MS, ...wanted];
    const answer = await redis.sendOne({ script: TAKE, keys: buildClaimKeys(claims), args }, waitBudget().ms);
    return readAnswer(answer as number[], claims);
  };
  return {
    async take(requestId, claims) {
      if (waitBudget().isOver) {
        onOutage(new RedisUnavailable("Redis did not answer a moment ago", false));
        return takeHere(requestId, claims);
      }
      try {
        return await take(requestId, claims);
      } catch (error) {
        onOutage(error);
        if (error instanceof RedisUnavailable) waitBudget().waitedTooLong();
        // The script may still run later, so its leases are released; its counts expire with their minute.
        if (error instanceof RedisUnavailable && error.mayHaveRun)
          void later(RELEASE, claims.filter(isConcurrency), [requestId]);
        return takeHere(requestId, claims);
      }
    },
    async correct(claims, takenAt, used) {
      if (takenAt.isLocal) return local.correct(claims, takenAt, used);
      const wrong = claims.filter((claim) => calculateCorrection(claim, used) !== 0);
      const differences = wrong.flatMap((claim) => [calculateCorrection(claim, used), partMs(claim)]);
      if (await later(CORRECT, wrong, [now(), takenAt.ms, ...differences])) return;
      await local.correct(wrong, LONG_AGO, used);
    },
    async renew(requestId, claims) {
      // Both know the running requests: each can count when the other is unavailable or has lost them.
      const renewed = later(RENEW, claims.filter(isConcurrency), [now(), requestId, CLAIM_LEASE_MS]);
      await local.renew(requestId, claims);
      await renewed;
    },
    async release(requestId, claims) {
      // Redis comes first: this must not release what the same request claims next.
      const given = later(RELEASE, claims.filter(isConcurrency), [requestId]);
      await local.release(requestId, claims);
      await given;
    },
  };
}

function readAnswer(answer: readonly number[], claims: readonly Claim[]): ClaimAnswer {
  const [place = 0, second = 0, third = 0] = answer;
  if (place > 0) {
    const claim = claims[place - 1] as Claim;
    return { taken: false, state: { claim, used: second, resetMs: third } };
  }
  const states = claims.map((claim, at) => ({
    claim,
    used: answer[2 + at * 2] ?? 0,
    resetMs: answer[3 + at * 2] ?? 0,
  }));
  return { taken: true, states, at: { ms: second } };
}
