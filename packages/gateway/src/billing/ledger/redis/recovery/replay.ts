import type { Logger } from "../../../../observability/log.ts";
import type { RedisClient } from "../../../../redis/client.ts";
import { selectShard } from "../../../../redis/keys.ts";
import type { RawDatabase } from "../../../../storage/engines/raw.ts";
import { bookedRequests, settledRequests } from "../../booking/booked-requests.ts";
import { reapedCharge, type Seen } from "../../booking/reaped-charge.ts";
import { type Charge, chargeText, readCharge } from "../../charge.ts";
import type { DirectSettlement } from "../../booking/direct-settlement.ts";
import type { LiveBudgets } from "../../../budgets/redis/live-budgets.ts";
import type { Journal } from "../../journal/journal.ts";
import type { RunningSum } from "../../journal/running-sums.ts";
import type { OpenHold, OpenHolds } from "../open-holds.ts";
import type { Lease } from "../../../reservations/live-reservations.ts";
import { adoptCall, reapCall, releaseCall, renewCall, settleCall } from "../calls.ts";
import type { Memory } from "./epoch.ts";
import type { RetainedCharges } from "./retained-charges.ts";
import type { DataLossDetector } from "./data-loss-detector.ts";
import { SETTLED } from "../scripts.ts";

export interface ReplayDeps {
  readonly redis: RedisClient;
  readonly database: RawDatabase;
  readonly directSettlement: Pick<DirectSettlement, "book">;
  readonly journal: Pick<Journal, "recent" | "found" | "foundSums">;
  readonly open: OpenHolds;
  readonly budgets: Pick<LiveBudgets, "adoptions">;
  readonly loss: DataLossDetector;
  readonly log: Logger;
  readonly lease: () => Lease;
  readonly retained: Pick<RetainedCharges, "read">;
  /** Restores reservations that requests have in the database. */
  readonly adoptShares: () => Promise<void>;
  /** Called when charges were booked that neither Redis nor the database had. */
  readonly onRecovered: (count: number) => void;
}

const AT_ONCE = 256;
const TIMEOUT_MS = 15_000;
const NOTHING = { booked: 0, reaped: 0 };

/**
 * Replays the data of this process to Redis. Reservations are restored; settlements of the last minutes that neither
 * Redis nor the database has are booked directly in the database.
 */
export async function replay(memory: Memory, deps: ReplayDeps): Promise<void> {
  if (memory === "empty") deps.loss.forget();
  await adoptAll(deps);
  if (memory === "intact") return;
  let booked = 0;
  for (const part of deps.journal.recent()) booked += (await resend(parseCharges(part), memory, deps)).booked;
  for await (const part of deps.retained.read()) booked += (await resend(parseCharges(part), memory, deps)).booked;
  deps.log.info("the journal was replayed to Redis", { booked });
  if (booked > 0) deps.onRecovered(booked);
}

/**
 * Books the charges that earlier processes left on this disk and that neither Redis nor the database has, and the last
 * known sums of the requests that they were serving. Returns whether it finished. Throws until the database has a charge that was reaped in the meantime, because only then can it
 * be corrected.
 */
export async function resendUnacknowledged(deps: ReplayDeps, signal: AbortSignal): Promise<boolean> {
  let booked = 0;
  const running = new Map(deps.journal.foundSums.read().map((sum) => [sum.request_id, sum]));
  for (const part of deps.journal.found()) {
    if (signal.aborted) return false;
    const charges = parseCharges(part);
    for (const { charge } of charges) running.delete(charge.settlement.hold.requestId);
    const again = await resend(charges, "doubtful", deps);
    booked += again.booked;
    if (again.reaped > 0) throw new Error(`${again.reaped} of its charges were reaped and are not booked yet`);
  }
  if (booked > 0) deps.log.warn("charges that Redis had lost were recovered from an old journal", { booked });
  if (booked > 0) deps.onRecovered(booked);
  await reapRunning([...running.values()], deps);
  deps.journal.foundSums.remove();
  return true;
}

/** A lease that has ended by any clock. */
const ENDED = Number.MAX_SAFE_INTEGER;

/**
 * Charges what the requests of dead processes cost by their last report. Their leases need not end first, because
 * no process serves them; a charge that is already known changes nothing.
 */
async function reapRunning(running: readonly RunningSum[], deps: ReplayDeps): Promise<void> {
  const { redis, database, directSettlement, log } = deps;
  let booked = 0;
  for (let from = 0; from < running.length; from += AT_ONCE) {
    const some = running.slice(from, from + AT_ONCE);
    const ids = some.map(({ request_id }) => request_id);
    const known = await bookedRequests(database, ids);
    const due = some.filter(({ request_id }) => !known.has(request_id));
    const charges = due.map((sum) => reapedCharge(sum, (JSON.parse(sum.seen) as Seen).at));
    const calls = charges.map((charge) => reapCall(redis.keys, charge.settlement, chargeText(charge), ENDED));
    const answers = calls.length === 0 ? [] : await redis.send(calls, TIMEOUT_MS);
    for (const answer of answers) if (answer instanceof Error) throw answer;
    const lost = charges.filter((_, at) => typeof answers[at] !== "string");
    if (lost.length > 0) await directSettlement.book(lost);
    booked += due.length;
  }
  if (booked > 0) log.warn("requests of an earlier process were charged at their last reported usage", { booked });
}

/** Renews the leases of all open reservations of this process and restores those that Redis lost. */
export async function adoptAll({
  redis,
  database,
  open,
  budgets,
  lease,
  adoptShares,
}: Omit<ReplayDeps, "journal" | "directSettlement" | "onRecovered" | "retained">): Promise<void> {
  const all = open.live();
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const some = all.slice(from, from + AT_ONCE);
    const ended = await bookedRequests(
      database,
      some.map(({ hold }) => hold.requestId),
    );
    const running = some.filter(({ hold }) => !ended.has(hold.requestId) && open.get(hold.requestId));
    const calls = running.flatMap((one) => adoption(one, redis, lease()));
    if (calls.length > 0) await redis.send(calls, TIMEOUT_MS);
  }
  await adoptShares();
  const ofBudgets = budgets.adoptions();
  for (let from = 0; from < ofBudgets.length; from += AT_ONCE)
    await redis.send(ofBudgets.slice(from, from + AT_ONCE), TIMEOUT_MS);
}

function adoption({ hold, amount, seen }: OpenHold, { keys }: RedisClient, lease: Lease) {
  const adopt = adoptCall(keys, hold, amount, lease);
  return seen === "" ? [adopt] : [adopt, renewCall(keys, { hold, seen, amount: undefined }, lease)];
}

/** Parses charges. Skips a line that a crash truncated, because its request was never answered. */
function parseCharges(texts: readonly string[]): { readonly charge: Charge; readonly text: string }[] {
  return texts.flatMap((text) => {
    try {
      return [{ charge: readCharge(text), text }];
    } catch {
      return [];
    }
  });
}

async function resend(
  sent: readonly { readonly charge: Charge; readonly text: string }[],
  memory: Memory,
  deps: ReplayDeps,
): Promise<{ readonly booked: number; readonly reaped: number }> {
  const { redis, database, directSettlement, loss } = deps;
  if (sent.length === 0) return NOTHING;
  const ids = sent.map(({ charge }) => charge.settlement.hold.requestId);
  const settled = await settledRequests(database, ids);
  const due = sent.filter(({ charge }) => !settled.has(charge.settlement.hold.requestId));
  if (memory === "doubtful") await closeSettled(sent, settled, deps);
  if (due.length === 0) return NOTHING;
  const calls = due.map(({ charge, text }) => settleCall(redis.keys, charge.settlement, text));
  const answers = await redis.send(calls, TIMEOUT_MS);
  for (const [at, id] of answers.entries()) {
    if (id instanceof Error) throw id;
    const { hold } = (due[at] as (typeof due)[number]).charge.settlement;
    if (typeof id === "string") loss.acknowledged({ shard: selectShard(hold.userId), id });
  }
  const unknown = due.filter((_, at) => answers[at] === SETTLED.unknown);
  if (unknown.length > 0) await directSettlement.book(unknown.map(({ charge }) => charge));
  return { booked: unknown.length, reaped: answers.filter((answer) => answer === SETTLED.reaped).length };
}

/** Closes settled reservations: a restored Redis may have open ones whose charge is in the database. */
async function closeSettled(
  sent: readonly { readonly charge: Charge }[],
  settled: ReadonlySet<string>,
  { redis }: ReplayDeps,
): Promise<void> {
  const calls = sent.flatMap(({ charge: { settlement } }) =>
    settled.has(settlement.hold.requestId) ? [releaseCall(redis.keys, settlement.hold)] : [],
  );
  if (calls.length > 0) await redis.send(calls, TIMEOUT_MS);
}
