import { AppError } from "../../../lib/app-error.ts";
import { createBatcher } from "../../../lib/async/batcher.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { RawDatabase, RawTransaction } from "../../../storage/engines/raw.ts";
import { grantedOf, isRefusal, type Hold, type HoldRefusal, type HoldRequest } from "../ledger.ts";
import { quota, type Quota } from "../../money/quota.ts";
import { heldByTokens, heldByUsers, lockTokens, lockUsers, type TokenBalance, type UserBalance } from "./accounts.ts";
import { insertRows } from "../../../storage/statements.ts";

/** Requests per transaction; more would only delay the first ones. */
const BATCH = 128;
const RETRY_AFTER_MS = 1_000;

export interface HoldDeps {
  readonly database: RawDatabase;
  readonly clock: Clock;
  readonly leaseMs: number;
}

/**
 * Reserves. Requests of one event loop turn share a transaction, and those that arrive while it runs share the next
 * one. Each is granted or refused on its own, in order of arrival.
 */
export function createHolds(deps: HoldDeps): (request: HoldRequest) => Promise<Hold | HoldRefusal> {
  const batcher = createBatcher<HoldRequest, Hold | HoldRefusal>({
    maxJobs: BATCH,
    startsAt: "turn",
    isolatesFailures: true,
    work: (requests) => deps.database.transaction((tx) => reserve(tx, requests, deps)),
  });
  return async (request) => {
    try {
      return await batcher.add(request);
    } catch (error) {
      throw unavailable(error);
    }
  };
}

/** Any failure: without a reservation there is no call, and a retry may reach the database. */
function unavailable(cause: unknown): AppError {
  return new AppError("balances_unavailable", { cause, retryAfterMs: RETRY_AFTER_MS });
}

async function reserve(
  tx: RawTransaction,
  requests: readonly HoldRequest[],
  { database: { kind }, clock, leaseMs }: HoldDeps,
): Promise<(Hold | HoldRefusal)[]> {
  const users = await lockUsers(
    tx,
    kind,
    requests.map(({ userId }) => userId),
  );
  const tokens = await lockTokens(
    tx,
    kind,
    requests.map(({ tokenId }) => tokenId),
  );
  const held = { users: heldByUsers(), tokens: heldByTokens() };
  const now = clock.now();
  const answers = requests.map((request): Hold | HoldRefusal => {
    const { requestId, userId, tokenId } = request;
    const free = {
      user: available(users.get(userId), held.users.of(userId, "held")),
      token: tokenId === 0 ? undefined : availableOfToken(tokens.get(tokenId), held.tokens.of(tokenId, "held")),
    };
    const refusal = refuse(request, free);
    if (refusal) return refusal;
    const amount = grantedOf(request, Math.min(free.user, free.token ?? Infinity));
    if (amount > 0) held.users.add(userId, "held", amount);
    if (amount > 0 && tokenId !== 0) held.tokens.add(tokenId, "held", amount);
    return { requestId, userId, tokenId, amount, leaseUntil: now + leaseMs };
  });
  await held.users.write(tx, kind);
  await held.tokens.write(tx, kind);
  const rows = answers.flatMap((answer) => (isRefusal(answer) ? [] : [rowOf(answer, now)]));
  await insertRows(tx, kind, HOLDS, rows);
  return answers;
}

const HOLDS = {
  table: "holds",
  columns: ["request_id", "user_id", "token_id", "amount", "seen", "lease_until", "created_at"],
} as const;

function rowOf(hold: Hold, now: number) {
  return [hold.requestId, hold.userId, hold.tokenId, hold.amount, "", hold.leaseUntil, now];
}

function available(user: UserBalance | undefined, taken: number): number {
  return user === undefined ? 0 : user.quota - user.held - taken;
}

/** Undefined = unlimited. */
function availableOfToken(token: TokenBalance | undefined, taken: number): number | undefined {
  if (token === undefined) return 0;
  return token.unlimited_quota === 1 ? undefined : token.remain_quota - token.held - taken;
}

interface Available {
  readonly user: number;
  readonly token: number | undefined;
}

/** A priced call requires a positive balance even when it reserves nothing. */
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
