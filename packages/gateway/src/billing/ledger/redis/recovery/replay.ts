import type { Logger } from "../../../../observability/log.ts";
import type { RedisClient } from "../../../../redis/client.ts";
import { shardOf } from "../../../../redis/keys.ts";
import type { RawDatabase } from "../../../../storage/engines/raw.ts";
import { bookedRequests, settledRequests } from "../../sql/booked-requests.ts";
import { type Charge, readCharge } from "../../charge.ts";
import type { DirectSettlement } from "../../sql/direct-settlement.ts";
import type { Journal } from "../journal/journal.ts";
import type { OpenHold, OpenHolds } from "../../open-holds.ts";
import { adoptCall, type Lease, releaseCall, renewCall, settleCall } from "../calls.ts";
import type { Memory } from "./epoch.ts";
import type { DataLossDetector } from "./data-loss-detector.ts";
import { SETTLED } from "../scripts.ts";

export interface ReplayDeps {
  readonly redis: RedisClient;
  readonly database: RawDatabase;
  readonly directSettlement: Pick<DirectSettlement, "book">;
  readonly journal: Pick<Journal, "recent" | "found">;
  readonly open: OpenHolds;
  readonly loss: DataLossDetector;
  readonly log: Logger;
  readonly lease: () => Lease;
}

const AT_ONCE = 256;
const TIMEOUT_MS = 15_000;
const NOTHING = { booked: 0, reaped: 0 };

/**
 * Gives Redis again what this process told it. Reservations come back as they were; settlements of the last minutes
 * that neither Redis nor the database has are booked past Redis.
 */
export async function replay(memory: Memory, deps: ReplayDeps): Promise<void> {
  if (memory === "empty") deps.loss.forget();
  await adoptAll(deps);
  if (memory === "intact") return;
  let booked = 0;
  for (const part of deps.journal.recent()) booked += (await resend(chargesOf(part), memory, deps)).booked;
  deps.log.info("the journal was given to Redis again", { booked });
}

/**
 * What earlier processes left on this disk, whether Redis took it then or not: it is booked where nobody has it.
 * Answers whether it came to the end. What was reaped meanwhile is corrected when the database has that: throws until
 * then.
 */
export async function resendFound(deps: ReplayDeps, signal: AbortSignal): Promise<boolean> {
  let booked = 0;
  for (const part of deps.journal.found()) {
    if (signal.aborted) return false;
    const again = await resend(chargesOf(part), "doubtful", deps);
    booked += again.booked;
    if (again.reaped > 0) throw new Error(`${again.reaped} of its charges were reaped, and are not booked yet`);
  }
  if (booked > 0) deps.log.warn("charges that Redis had lost were found in an old journal", { booked });
  return true;
}

/** Moves the leases of everything open here; what Redis lost is there again. */
export async function adoptAll({
  redis,
  database,
  open,
  lease,
}: Omit<ReplayDeps, "journal" | "directSettlement">): Promise<void> {
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
}

function adoption({ hold, amount, seen }: OpenHold, { keys }: RedisClient, lease: Lease) {
  const adopt = adoptCall(keys, hold, amount, lease);
  return seen === "" ? [adopt] : [adopt, renewCall(keys, { hold, seen, amount: undefined }, lease)];
}

/** A line that a crash cut off says nothing; its request was never answered. */
function chargesOf(texts: readonly string[]): { readonly charge: Charge; readonly text: string }[] {
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
    if (typeof id === "string") loss.acknowledged({ shard: shardOf(hold.userId), id });
  }
  const unknown = due.filter((_, at) => answers[at] === SETTLED.unknown);
  if (unknown.length > 0) await directSettlement.book(unknown.map(({ charge }) => charge));
  return { booked: unknown.length, reaped: answers.filter((answer) => answer === SETTLED.reaped).length };
}

/** A Redis that fell back may hold reservations open whose charge the database has. */
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
