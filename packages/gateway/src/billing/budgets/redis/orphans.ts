import type { Clock } from "../../../lib/clock.ts";
import type { RedisClient } from "../../../redis/client.ts";
import { selectShard } from "../../../redis/keys.ts";
import type { RawDatabase } from "../../../storage/engines/raw.ts";
import { inList } from "../../../storage/statements.ts";
import type { Lease } from "../../reservations/live-reservations.ts";
import type { SqlBudgets } from "../sql/reservations.ts";
import { ORPHAN_MS } from "../sql/sheet.ts";
import { longOpenCall, openWindowsCall } from "./calls.ts";
import type { BudgetFollower } from "./follower.ts";

export interface OrphanDeps {
  readonly redis: RedisClient;
  readonly database: RawDatabase;
  readonly clock: Clock;
  readonly lease: () => Lease;
  readonly inDatabase: SqlBudgets;
  readonly follower: BudgetFollower;
}

const AT_ONCE = 500;
const TIMEOUT_MS = 5_000;

/**
 * Releases budget reservations that no longer belong to an open or charged hold, because the process died between two
 * steps or an answer was lost. The hold decides the charge of a request, so nothing is charged here. Also writes the
 * states of all budgets, and the windows that Redis has opened.
 */
export async function reapBudgets(deps: OrphanDeps): Promise<number> {
  const { redis, follower, inDatabase } = deps;
  const ofDatabase = await inDatabase.reap();
  if (!redis.isReady) return ofDatabase;
  const open = await longOpen(deps);
  const carried = await carriedRequests(open, deps);
  const orphans = open.filter(({ id }) => !carried.has(id));
  await noteOpenWindows(deps);
  await follower.current(
    undefined,
    orphans.map(({ id }) => id),
  );
  await postpone([...carried], deps);
  return ofDatabase + orphans.length;
}

/** Notes the windows that Redis has opened, in case the process that opened one has died before it could. */
async function noteOpenWindows({ redis, follower }: OrphanDeps): Promise<void> {
  const pairs = (await redis.sendOne(openWindowsCall(redis.keys), TIMEOUT_MS)) as readonly (readonly [
    string,
    string,
  ])[];
  if (pairs.length > 0) await follower.noteWindows(new Map(pairs.map(([id, start]) => [Number(id), Number(start)])));
}

interface OpenRequest {
  readonly id: string;
  readonly userId: number;
}

async function longOpen({ redis, lease }: OrphanDeps): Promise<OpenRequest[]> {
  const texts = (await redis.sendOne(longOpenCall(redis.keys, lease(), AT_ONCE), TIMEOUT_MS)) as readonly string[];
  return Array.from({ length: texts.length / 2 }, (_, at) => ({
    id: texts[2 * at] as string,
    userId: Number(texts[2 * at + 1]?.split(":")[1]),
  }));
}

/** Returns the requests whose hold is in Redis, with its charge if that is not booked yet, or in the database. */
async function carriedRequests(open: readonly OpenRequest[], deps: OrphanDeps): Promise<Set<string>> {
  const { redis, database } = deps;
  if (open.length === 0) return new Set();
  const calls = open.map(({ id, userId }) => ({ command: "hget", args: [redis.keys.holds(selectShard(userId)), id] }));
  const answers = await redis.send(calls, TIMEOUT_MS);
  const failed = answers.find((answer) => answer instanceof Error);
  if (failed) throw failed;
  const carried = new Set(open.filter((_, at) => typeof answers[at] === "string").map(({ id }) => id));
  const { marks, values } = inList(open.map(({ id }) => id));
  const rows = await database.rows<{ request_id: string }>(
    `select request_id from holds where request_id in ${marks}`,
    values,
  );
  for (const row of rows) carried.add(row.request_id);
  return carried;
}

async function postpone(requestIds: readonly string[], { redis, lease, clock }: OrphanDeps): Promise<void> {
  const until = (lease().now || clock.now()) + ORPHAN_MS;
  const pairs = requestIds.flatMap((id) => [until, id]);
  if (pairs.length > 0)
    await redis.sendOne({ command: "zadd", args: [redis.keys.budgets.leases, "XX", ...pairs] }, TIMEOUT_MS);
}
