import { AppError } from "../../../lib/app-error.ts";
import { createBatcher } from "../../../lib/async/batcher.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Logger } from "../../../observability/log.ts";
import type { RawDatabase, RawTransaction } from "../../../storage/engines/raw.ts";
import { calculateGrant, isRefusal, type Hold, type HoldRefusal, type HoldRequest } from "../ledger.ts";
import { quota, type Quota } from "../../money/quota.ts";
import {
  heldByTokens,
  heldByUsers,
  lockTokens,
  lockUsersAt,
  type TokenBalance,
  type UserBalance,
} from "../booking/accounts.ts";
import { InsertColumns, insertRows } from "../../../storage/statements.ts";
import type { Placed, Placing } from "../../budgets/budget.ts";
import { closeBudgets, placeBudgets, type BudgetClose } from "../../budgets/sql/sheet.ts";
import type { LeaseTime } from "../../reservations/lease-time.ts";
import type { ReservedInMemory } from "../../budgets/sql/memory.ts";
import { createSqlBudgets, type SqlBudgets } from "../../budgets/sql/reservations.ts";

/** Reservations per transaction; more would only delay the first ones. */
const BATCH = 256;
const RETRY_AFTER_MS = 1_000;

export interface HoldDeps {
  readonly database: RawDatabase;
  readonly clock: Clock;
  readonly log: Logger;
  readonly leaseMs: number;
  readonly leaseTime: LeaseTime;
  /** Reservations of budgets in memory instead of the database. */
  readonly reserved?: ReservedInMemory | undefined;
}

/** Reservations in the database, of balances and of the budgets of the same requests. */
export interface Holds {
  hold(request: HoldRequest): Promise<Hold | HoldRefusal>;
  readonly budgets: SqlBudgets;
}

type Job = { readonly hold: HoldRequest } | { readonly place: Placing } | { readonly close: BudgetClose };
type JobAnswer = Hold | HoldRefusal | Placed;

/**
 * Creates reservations. Requests of one event loop turn share a transaction, and those that arrive while it runs share
 * the next one. Each request is granted or refused individually, in order of arrival.
 */
export function createHolds(deps: HoldDeps): Holds {
  const batcher = createBatcher<Job, JobAnswer>({
    maxJobs: BATCH,
    startsAt: "turn",
    isolatesFailures: true,
    work: (jobs) => deps.database.transaction((tx) => reserveAll(tx, jobs, deps)),
  });
  return {
    hold: (request) => batcher.add({ hold: request }).catch(refuseUnavailable) as Promise<Hold | HoldRefusal>,
    budgets: createSqlBudgets({
      ...deps,
      place: (placing) => batcher.add({ place: placing }) as Promise<Placed>,
      close: async (close) => void (await batcher.add({ close })),
      idle: () => batcher.idle(),
    }),
  };
}

/** Reserves balances first and budgets last, because every transaction locks them in this order. */
async function reserveAll(tx: RawTransaction, jobs: readonly Job[], deps: HoldDeps): Promise<JobAnswer[]> {
  const settings = { kind: deps.database.kind, now: deps.clock.now(), reserved: deps.reserved };
  const leasedAt = async (now: number) => ({ ...settings, leaseNow: now || (await deps.leaseTime.read(tx)) });
  const holds = jobs.flatMap((job) => ("hold" in job ? [job.hold] : []));
  const places = jobs.flatMap((job) => ("place" in job ? [job.place] : []));
  const closes = jobs.flatMap((job) => ("close" in job ? [job.close] : []));
  const held = holds.length === 0 ? { answers: [], now: 0 } : await reserve(tx, holds, deps);
  const placed = places.length === 0 ? [] : await placeBudgets(tx, places, await leasedAt(held.now));
  await closeBudgets(tx, closes, settings);
  const [ofHolds, ofPlaces] = [held.answers.values(), placed.values()];
  return jobs.map((job) => {
    if ("hold" in job) return ofHolds.next().value;
    return "place" in job ? ofPlaces.next().value : undefined;
  });
}

/** Throws the error for any failure: without a reservation there is no call, and a retry may reach the database. */
function refuseUnavailable(cause: unknown): never {
  throw new AppError("balances_unavailable", { cause, retryAfterMs: RETRY_AFTER_MS });
}

async function reserve(
  tx: RawTransaction,
  requests: readonly HoldRequest[],
  { database: { kind }, clock, leaseMs, leaseTime }: HoldDeps,
): Promise<{ readonly answers: (Hold | HoldRefusal)[]; readonly now: number }> {
  const userIds = requests.map(({ userId }) => userId);
  const { users, now } = await lockUsersAt(tx, kind, userIds, leaseTime);
  const tokens = await lockTokens(
    tx,
    kind,
    requests.map(({ tokenId }) => tokenId),
  );
  const held = { users: heldByUsers(), tokens: heldByTokens() };
  const leaseUntil = now + leaseMs;
  const answers = requests.map((request): Hold | HoldRefusal => {
    const { requestId, userId, tokenId } = request;
    const free = {
      user: available(users.get(userId), held.users.of(userId, "held")),
      token: tokenId === 0 ? undefined : calculateAvailable(tokens.get(tokenId), held.tokens.of(tokenId, "held")),
    };
    const refusal = refuse(request, free);
    if (refusal) {
      const { held: others = 0 } = (refusal.refused === "user" ? users.get(userId) : tokens.get(tokenId)) ?? {};
      return { ...refusal, held: quota(others) };
    }
    const amount = calculateGrant(request, Math.min(free.user, free.token ?? Infinity));
    if (amount > 0) held.users.add(userId, "held", amount);
    if (amount > 0 && tokenId !== 0) held.tokens.add(tokenId, "held", amount);
    return { requestId, userId, tokenId, amount, leaseUntil };
  });
  await held.users.write(tx, kind);
  await held.tokens.write(tx, kind);
  const granted = answers.flatMap((answer) => (isRefusal(answer) ? [] : [answer]));
  await insertHolds(tx, kind, granted, clock.now());
  return { answers, now };
}

/** Inserts the rows of reservations; the caller has raised what their users and tokens hold. */
export async function insertHolds(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  holds: readonly Hold[],
  now: number,
): Promise<void> {
  await insertRows(
    tx,
    kind,
    HOLDS,
    holds.map((hold) => toHoldRow(hold, now)),
  );
}

const HOLDS = new InsertColumns("holds", [
  "request_id",
  "user_id",
  "token_id",
  "amount",
  "seen",
  "lease_until",
  "created_at",
]);

function toHoldRow(hold: Hold, now: number) {
  return [hold.requestId, hold.userId, hold.tokenId, hold.amount, "", hold.leaseUntil, now];
}

function available(user: UserBalance | undefined, taken: number): number {
  return user === undefined ? 0 : user.quota - user.held - taken;
}

/** Returns the available amount; undefined if it is unlimited. */
function calculateAvailable(token: TokenBalance | undefined, taken: number): number | undefined {
  if (token === undefined) return 0;
  return token.unlimited_quota === 1 ? undefined : token.remain_quota - token.held - taken;
}

interface Available {
  readonly user: number;
  readonly token: number | undefined;
}

/** Returns the refusal, if any. A priced call requires a positive balance even if it reserves nothing. */
export function refuse(
  request: Pick<HoldRequest, "amount" | "isCharged">,
  { user, token }: Available,
): HoldRefusal | undefined {
  const { amount, isCharged } = request;
  const isShort = (have: number) => have < amount || (isCharged && have <= 0);
  if ((isCharged || amount > 0) && isShort(user)) return refusal("user", amount, user);
  if (token !== undefined && (isCharged || amount > 0) && isShort(token)) return refusal("token", amount, token);
  return undefined;
}

function refusal(refused: "user" | "token", needed: Quota, have: number): HoldRefusal {
  return { refused, needed, available: quota(have) };
}
