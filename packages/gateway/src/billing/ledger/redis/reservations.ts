import { AppError } from "../../../lib/app-error.ts";
import type { Logger } from "../../../observability/log.ts";
import { RedisUnavailable, type RedisClient } from "../../../redis/client.ts";
import type { WaitBudget } from "../../../redis/wait-budget.ts";
import { isRefusal, type Hold, type HoldRefusal, type HoldRequest } from "../ledger.ts";
import { quota, ZERO, type Quota } from "../../money/quota.ts";
import type { Lease, OnOutage, RecoveryGate } from "../../reservations/live-reservations.ts";
import { holdCall } from "./calls.ts";
import { releaseLater } from "./release.ts";
import { HELD } from "./scripts.ts";
import { askAgain } from "../../reservations/second-look.ts";
import type { AccountLoader } from "./account-loader.ts";

export interface LiveHoldDeps {
  readonly redis: RedisClient;
  readonly accountLoader: AccountLoader;
  readonly epochs: RecoveryGate;
  readonly lease: () => Lease;
  /** Epoch milliseconds of this process. */
  readonly now: () => number;
}

export interface RedisReservationsDeps extends LiveHoldDeps {
  readonly log: Logger;
  /** How new requests are treated while Redis is unavailable. */
  readonly onOutage: OnOutage;
  /** Sends the waiting charges of this process. */
  readonly sendNow: () => void;
  /** Reserves in the database. */
  readonly shares: {
    hold(request: HoldRequest): Promise<Hold | HoldRefusal>;
    /** False while requests must not be reserved in Redis. */
    readonly isOpen: boolean;
    /** Called when a request did not reach Redis. */
    doubt(): void;
  };
  /** True if too many charges wait for the database: then new requests are refused. */
  readonly isFull: () => boolean;
  /** Called for each request that was not reserved in Redis. */
  readonly onOutageHold: (mode: OnOutage) => void;
}

export interface Held {
  readonly answer: Hold | HoldRefusal;
  readonly isDirect: boolean;
  /** The remaining balance is below the reservation. */
  readonly isTight: boolean;
}

/** Reserves in Redis, in one round trip for an account that is loaded there. */
export interface RedisReservations {
  /** Throws AppError `balances_unavailable` when neither Redis nor, if allowed, the database answers. */
  hold(request: HoldRequest): Promise<Held>;
}

/** How long a client waits for a restarting Redis when there is no fallback. */
const RESTART_MS = 2_000;
/** How long after a failure requests go to the database without trying Redis. */
const REST_MS = 1_000;
/** Loading a balance for the first time waits for unbooked charges. */
const LOAD_MS = 5_000;
const STEP_MS = 200;
const TELL_MS = 10_000;

export function createRedisReservations(deps: RedisReservationsDeps): RedisReservations {
  const { redis, log, onOutage, onOutageHold, isFull, shares } = deps;
  const restsUntil = new WeakMap<WaitBudget, number>();
  const tell = outageLog(log, onOutage);

  const holdInDatabase = async (request: HoldRequest): Promise<Held> => {
    onOutageHold(onOutage);
    try {
      return { answer: await shares.hold(request), isDirect: true, isTight: true };
    } catch (error) {
      throw unavailable(error);
    }
  };

  const outage = (request: HoldRequest, error: unknown): Promise<Held> => {
    tell(request, error);
    // The reservation may exist although no answer arrived.
    releaseLater(redis, granted(request, request.amount, deps));
    const waitBudget = getUserWaitBudget(request, redis);
    if (error instanceof RedisUnavailable) waitBudget.waitedTooLong();
    restsUntil.set(waitBudget, performance.now() + REST_MS);
    if (onOutage === "sql") {
      shares.doubt();
      return holdInDatabase(request);
    }
    onOutageHold(onOutage);
    throw unavailable(error);
  };

  const holdOnce = async (request: HoldRequest): Promise<Held> => {
    if (isFull()) throw unavailable(new Error("too many charges wait for the database"));
    if (onOutage === "sql") {
      const waitBudget = getUserWaitBudget(request, redis);
      const isResting = waitBudget.isOver || performance.now() < (restsUntil.get(waitBudget) ?? -Infinity);
      if (isResting || !shares.isOpen) return holdInDatabase(request);
    }
    try {
      const waitMs = onOutage === "sql" ? getUserWaitBudget(request, redis).ms : RESTART_MS;
      return await holdLive(request, deps, { waitMs });
    } catch (error) {
      return outage(request, error);
    }
  };

  return {
    hold: (request) =>
      askAgain(
        () => holdOnce(request),
        ({ answer }) => !isCrowded(answer),
        deps.sendNow,
      ),
  };
}

/** Returns true if the balance covers the request as soon as others release what they hold. */
function isCrowded(answer: Hold | HoldRefusal): boolean {
  if (!isRefusal(answer)) return false;
  const { needed, available, held = ZERO } = answer;
  return held > 0 && available + held >= Math.max(needed, 1);
}

/** Logs one line every ten seconds during an outage; the metric counts every request. */
function outageLog(log: Logger, mode: OnOutage): (request: HoldRequest, error: unknown) => void {
  let loggedAt = -Infinity;
  let unreported = 0;
  return ({ requestId }, error) => {
    unreported += 1;
    if (performance.now() - loggedAt < TELL_MS) return;
    log.warn("requests cannot be reserved in Redis", { request_id: requestId, requests: unreported, mode, error });
    loggedAt = performance.now();
    unreported = 0;
  };
}

function unavailable(cause: unknown): AppError {
  return new AppError("balances_unavailable", { cause, retryAfterMs: RESTART_MS });
}

/**
 * Reserves in Redis. Throws RedisUnavailable after `waitMs`.
 *
 * @param mayExist an earlier attempt may have made the reservation
 */
export async function holdLive(
  request: HoldRequest,
  deps: LiveHoldDeps,
  { waitMs, mayExist = false }: { readonly waitMs: number; readonly mayExist?: boolean },
): Promise<Held> {
  const startedAt = performance.now();
  let isRepeated = mayExist;
  for (;;) {
    const [code, free, more] = await ask(request, isRepeated, startedAt + waitMs, deps);
    isRepeated = true;
    const refusal = buildHoldRefusal(code, { free, held: more }, request);
    if (refusal) return live(refusal);
    if (code === HELD.granted) return live(granted(request, free > 0 ? quota(free) : request.amount, deps), more === 1);
    const loaded = await open(code, request, startedAt + LOAD_MS, deps);
    if (loaded === "absent")
      return live(refuse(code === HELD.userUnread ? "user" : "token", { free: 0, held: 0 }, request));
    if (performance.now() > startedAt + LOAD_MS)
      throw new Error(`balances are ${loaded === "late" ? "not complete yet" : "not open yet"}`);
  }
}

function getUserWaitBudget({ userId }: HoldRequest, redis: RedisClient): WaitBudget {
  return redis.getWaitBudget(redis.keys.user(userId));
}

function live(answer: Hold | HoldRefusal, isTight = false): Held {
  return { answer, isDirect: false, isTight };
}

/**
 * Code of `HELD`; the granted or free amount; 1 if less than the granted amount is left, or the amount that others
 * hold.
 */
type HoldAnswer = readonly [code: number, amount: number, more: number];

const GRANTED: HoldAnswer = [HELD.granted, 0, 0];

/** Sends the call and retries while Redis is unavailable, within the time limit: a restart takes a second. */
async function ask(
  request: HoldRequest,
  isRepeated: boolean,
  deadline: number,
  { redis, lease }: LiveHoldDeps,
): Promise<HoldAnswer> {
  for (let repeated = isRepeated; ;) {
    const rest = Math.max(1, Math.ceil(deadline - performance.now()));
    try {
      const answer = await redis.sendOne(holdCall(redis.keys, request, lease(), repeated), rest);
      return answer === HELD.granted ? GRANTED : (answer as HoldAnswer);
    } catch (error) {
      if (!(error instanceof RedisUnavailable) || performance.now() >= deadline) throw error;
      repeated ||= error.mayHaveRun;
      await redis.ready(Math.min(rest, STEP_MS));
    }
  }
}

/** Loads the account into Redis, or waits until loading is allowed. */
async function open(
  code: number,
  { userId, tokenId }: HoldRequest,
  deadline: number,
  { accountLoader, epochs }: LiveHoldDeps,
) {
  if (code !== HELD.closed) {
    const loaded = await accountLoader.load({ userId, tokenId: code === HELD.userUnread ? 0 : tokenId }, deadline);
    if (loaded !== "closed") return loaded;
  }
  epochs.closed();
  await epochs.settled(Math.max(1, deadline - performance.now()));
  return "closed";
}

function granted(
  { requestId, userId, tokenId }: HoldRequest,
  amount: Quota,
  { lease, now }: Pick<LiveHoldDeps, "lease" | "now">,
): Hold {
  return { requestId, userId, tokenId, amount, leaseUntil: now() + lease().leaseMs };
}

interface Short {
  readonly free: number;
  /** The amount that other requests have reserved. */
  readonly held: number;
}

function buildHoldRefusal(code: number, short: Short, request: HoldRequest): HoldRefusal | undefined {
  if (code !== HELD.userShort && code !== HELD.tokenShort) return undefined;
  return refuse(code === HELD.userShort ? "user" : "token", short, request);
}

function refuse(refused: HoldRefusal["refused"], { free, held }: Short, { amount }: HoldRequest): HoldRefusal {
  return { refused, needed: amount, available: quota(free), held: quota(held) };
}
