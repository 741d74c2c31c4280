import type { Clock } from "../lib/clock.ts";
import { RedisUnavailable, type RedisClient } from "../redis/client.ts";
import { script, type Script } from "../redis/script.ts";
import {
  CLAIM_LEASE_MS,
  claimName,
  CONCURRENCY_RETRY_MS,
  correctionOf,
  isConcurrency,
  LONG_AGO,
  partMs,
  WINDOW_PARTS,
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
/** All of them live in one slot: the scopes of a request cross every other border. */
const TAG = "{lim}";

/**
 * A window is a hash of amounts by its parts with their sum in `t` and the first part that may be present in `f`.
 * Between `f` and now lie at most as many parts as the window has, so dropping costs a step for each of them. After a
 * fail-over the clock may be behind: a window that begins in a far future is forgotten.
 */
const COMMON = `
local function clock(given)
  if given ~= '0' then return tonumber(given) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function slide(key, now, ms)
  local part = math.floor(now / ms)
  local state = redis.call('HMGET', key, 'f', 't')
  local first, total = tonumber(state[1] or part), tonumber(state[2] or '0')
  local from = part - ${WINDOW_PARTS}
  local isAhead = first > part + ${WINDOW_PARTS}
  if first >= from and not isAhead then return part, first, total end
  if isAhead or first < from - ${WINDOW_PARTS} * 2 then
    redis.call('DEL', key)
    return part, part, 0
  end
  while first < from do
    local gone = redis.call('HGET', key, first)
    if gone then
      total = total - tonumber(gone)
      redis.call('HDEL', key, first)
    end
    first = first + 1
  end
  redis.call('HSET', key, 'f', string.format('%d', first), 't', string.format('%d', total))
  return part, first, total
end
local function add(key, at, amount, first, total, ms)
  redis.call('HINCRBY', key, string.format('%d', at), amount)
  redis.call('HSET', key, 'f', string.format('%d', math.min(first, at)), 't', string.format('%d', total + amount))
  redis.call('PEXPIRE', key, ${WINDOW_PARTS + 2} * ms)
end
local function reset(key, first, part, now, ms, left)
  for at = first, part do
    left = left - tonumber(redis.call('HGET', key, string.format('%d', at)) or '0')
    if left <= 0 then return math.max(0, (at + ${WINDOW_PARTS + 1}) * ms - now) end
  end
  return 0
end`;

/**
 * KEYS claims; ARGV now id lease, then kind limit amount and milliseconds of a part of each.
 * Answers {place, used, reset} or {0, now, used, reset, …}.
 */
const TAKE = script(`${COMMON}
local now, id, lease = clock(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local found = {}
for at, key in ipairs(KEYS) do
  local kind, limit, amount, ms = ARGV[at * 4], tonumber(ARGV[at * 4 + 1]), tonumber(ARGV[at * 4 + 2]), tonumber(ARGV[at * 4 + 3])
  if kind == 'concurrency' then
    redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
    local used = redis.call('ZCARD', key)
    if used + amount > limit then return {at, used, ${CONCURRENCY_RETRY_MS}} end
    found[at] = {used}
  else
    local part, first, total = slide(key, now, ms)
    if total + amount > limit then return {at, total, reset(key, first, part, now, ms, total + amount - limit)} end
    found[at] = {total, part, first}
  end
end
local answer = {0, now}
for at, key in ipairs(KEYS) do
  local kind, amount, ms = ARGV[at * 4], tonumber(ARGV[at * 4 + 2]), tonumber(ARGV[at * 4 + 3])
  local used, part, first = found[at][1], found[at][2], found[at][3]
  table.insert(answer, used + amount)
  if kind == 'concurrency' then
    redis.call('ZADD', key, now + lease, id)
    redis.call('PEXPIRE', key, lease)
    table.insert(answer, ${CONCURRENCY_RETRY_MS})
  else
    add(key, part, amount, first, used, ms)
    table.insert(answer, reset(key, first, part, now, ms, 1))
  end
end
return answer`);

/**
 * No part falls below nothing. KEYS windows; ARGV now, the time of the estimate, then the difference and milliseconds
 * of a part of each.
 */
const CORRECT = script(`${COMMON}
local now, taken = clock(ARGV[1]), tonumber(ARGV[2])
for at, key in ipairs(KEYS) do
  local difference, ms = tonumber(ARGV[at * 2 + 1]), tonumber(ARGV[at * 2 + 2])
  local part, first, total = slide(key, now, ms)
  local was = math.floor(taken / ms)
  local isExpired = was < part - ${WINDOW_PARTS}
  local at = isExpired and part or was
  local counted = tonumber(redis.call('HGET', key, string.format('%d', at)) or '0')
  difference = math.max(difference, -counted)
  if difference > 0 or (difference < 0 and not isExpired) then add(key, at, difference, first, total, ms) end
end
return 1`);

/** KEYS leases; ARGV now id lease. */
const RENEW = script(`${COMMON}
local now = clock(ARGV[1])
for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, now + tonumber(ARGV[3]), ARGV[2])
  redis.call('PEXPIRE', key, ARGV[3])
end
return 1`);

/** KEYS leases; ARGV id. */
const RELEASE = script(`
for _, key in ipairs(KEYS) do redis.call('ZREM', key, ARGV[1]) end
return 1`);

/** Limits across all replicas. While Redis is unavailable each process counts alone and reports the outage. */
export function createRedisClaims({ redis, local, clock, onOutage }: RedisClaimsSettings): Claims {
  const now = () => clock?.now() ?? 0;
  const waitBudget = () => redis.waitBudgetOf(redis.keys.claim(TAG, ""));
  const keysOf = (claims: readonly Claim[]) => claims.map((claim) => redis.keys.claim(TAG, claimName(claim)));
  /** False when Redis did not answer. Never rejects; sends before the first await. */
  const later = async (text: Script, claims: readonly Claim[], args: readonly (string | number)[]) => {
    if (claims.length === 0) return true;
    try {
      await redis.one({ script: text, keys: keysOf(claims), args }, LATER_TIMEOUT_MS);
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
    const answer = await redis.one({ script: TAKE, keys: keysOf(claims), args }, waitBudget().ms);
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
        // The script may still run later: its leases are released, its counts expire with their minute.
        if (error instanceof RedisUnavailable && error.mayHaveRun)
          void later(RELEASE, claims.filter(isConcurrency), [requestId]);
        return takeHere(requestId, claims);
      }
    },
    async correct(claims, takenAt, used) {
      if (takenAt.isLocal) return local.correct(claims, takenAt, used);
      const wrong = claims.filter((claim) => correctionOf(claim, used) !== 0);
      const differences = wrong.flatMap((claim) => [correctionOf(claim, used), partMs(claim)]);
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
      // Redis first: this must not release what the same request claims next.
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
