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
  resolveValue,
  type Claim,
  type ClaimAnswer,
  type Claims,
  type ManyValues,
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

/** The same, if claims are of one of many values: behind the answer, 1 for each whose value is counted alone, else 0. */
const TAKE_VALUES = script(readLua(import.meta.url, "./lua/claim-values.lua"));

/** Replaces the estimate of a request with what it has used. */
const CORRECT = script(readLua(import.meta.url, "./lua/correct-claims.lua"));

/** Extends the leases of a request. */
const RENEW = script(readLua(import.meta.url, "./lua/renew-leases.lua"));

/** Ends the leases of a request. */
const RELEASE = script(readLua(import.meta.url, "./lua/release-leases.lua"));

/** Limits across all replicas. While Redis is unavailable, each process counts alone and reports the outage. */
export function createRedisClaims({ redis, local, clock, onOutage }: RedisClaimsSettings): Claims {
  const now = () => clock?.now() ?? 0;
  const waitBudget = () => getWaitBudget(redis);
  /** False if Redis did not answer. Never rejects; sends before the first await. */
  const later = async (text: Script, claims: readonly Claim[], args: readonly (string | number)[]) => {
    if (claims.length === 0) return true;
    try {
      await redis.sendOne({ script: text, keys: buildClaimKeys(redis, claims), args }, LATER_TIMEOUT_MS);
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
  return {
    async take(requestId, claims) {
      if (waitBudget().isOver) {
        onOutage(new RedisUnavailable("Redis did not answer a moment ago", false));
        return takeHere(requestId, claims);
      }
      try {
        return await take(redis, claims, { requestId, now: now() });
      } catch (error) {
        onOutage(error);
        if (error instanceof RedisUnavailable) waitBudget().waitedTooLong();
        // The script may still run later, so its leases are released; its counts expire with their minute.
        if (error instanceof RedisUnavailable && error.mayHaveRun)
          void later(RELEASE, claims.filter(isConcurrency).flatMap(listCounters), [requestId]);
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

interface OneOfMany {
  readonly claim: Claim;
  readonly oneOf: ManyValues;
  /** The number of the claim, from 1 on. */
  readonly place: number;
}

function getWaitBudget(redis: RedisClient): ReturnType<RedisClient["getWaitBudget"]> {
  return redis.getWaitBudget(redis.keys.claim(TAG, ""));
}

function buildClaimKeys(redis: RedisClient, claims: readonly Claim[]): string[] {
  return claims.map((claim) => redis.keys.claim(TAG, claimName(claim)));
}

async function take(
  redis: RedisClient,
  claims: readonly Claim[],
  { requestId, now }: { readonly requestId: string; readonly now: number },
): Promise<ClaimAnswer> {
  const wanted = claims.flatMap((claim) => [claim.kind, claim.limit, claim.amount, partMs(claim)]);
  const args = [now, requestId, CLAIM_LEASE_MS, ...wanted];
  const many = claims.flatMap((claim, at) => (claim.oneOf ? [{ claim, oneOf: claim.oneOf, place: at + 1 }] : []));
  if (many.length > 0) return takeValues(redis, claims, { many, args });
  const keys = buildClaimKeys(redis, claims);
  const answer = await redis.sendOne({ script: TAKE, keys, args }, getWaitBudget(redis).ms);
  return readAnswer(answer as number[], claims);
}

/** One round trip, as without values. */
async function takeValues(
  redis: RedisClient,
  claims: readonly Claim[],
  { many, args }: { readonly many: readonly OneOfMany[]; readonly args: readonly (string | number)[] },
): Promise<ClaimAnswer> {
  const places = many.flatMap(({ claim, oneOf }) => [
    redis.keys.claim(TAG, claimName(resolveValue(claim, false))),
    redis.keys.claim(TAG, `values:${claim.scope}:${encodeURIComponent(oneOf.list)}`),
  ]);
  const values = many.flatMap(({ claim, oneOf, place }) => [place, claim.subject, oneOf.most]);
  const keys = [...buildClaimKeys(redis, claims), ...places];
  const answer = (await redis.sendOne(
    { script: TAKE_VALUES, keys, args: [...args, ...values, claims.length] },
    getWaitBudget(redis).ms,
  )) as number[];
  const marks = answer.slice(-many.length);
  const alone = new Map(many.map(({ place }, at) => [place - 1, marks[at] === 1]));
  const counted = claims.map((claim, at) => resolveValue(claim, alone.get(at) ?? true));
  const read = readAnswer(answer, counted);
  return read.taken ? { ...read, claims: counted } : read;
}

/** Returns the claims that may have counted this one. */
function listCounters(claim: Claim): readonly Claim[] {
  return claim.oneOf ? [resolveValue(claim, true), resolveValue(claim, false)] : [claim];
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
