// Kills the replica that creates caches of Google's protocol, at each step between the row and the last booking.
import { setTimeout as sleep } from "node:timers/promises";
import { createChannel, runSql, setOptions, type Session, type SqlRow, type Upstream } from "../../src/index.ts";
import { lockRow, type RowLock } from "../batches/row-lock.ts";
import { auditLedger } from "../batches/verdict.ts";
import {
  QUOTA,
  requireReplica,
  startBatchWorld,
  until,
  type BatchWorld,
  type Setting,
  type Story,
} from "../batches/world.ts";
import { countWaiting, endWaiting } from "./waiting-sessions.ts";

const MODEL = "gemini-3.5-flash";
const TOKENS = 100_000;
/** Input of the tokens at the model's ratio. */
const INPUT = 75_000;
const AGREES = ": 0 differences";
/** The upstream answers creations with this life only in part, and then nothing. */
const WITHHELD = "3601s";
/** The lease of a reservation is renewed after three seconds, by a clock that ticks once a second. */
const RENEWED_MS = 4_500;
/** A creation without an end is given up after ten minutes. */
const OLD = "created_at = created_at - 700";

/** A cache that was being created when its replica was killed. */
interface KilledCache extends Story {
  readonly step: string;
  /** The input is paid once its charge is noted with its reservation. */
  readonly charged: number;
  /** How many caches are left at the upstream after the sweep. */
  readonly leftUpstream: number;
}

interface CacheVerdict extends KilledCache {
  readonly problems: readonly string[];
}

interface CacheReport {
  readonly setting: Setting;
  readonly caches: readonly CacheVerdict[];
  readonly audit: string;
  /** How many creations the log names whose cache may be stored upstream without a name here. */
  readonly unknown: number;
}

/** What the fake upstream stores, by the name of each cache: the user's text in it. */
type Stored = Map<string, string>;

/** Runs every step once; servers only, because SQLite has no locks of single rows. */
export async function runCacheKills(setting: Setting): Promise<CacheReport> {
  const stored: Stored = new Map();
  const world = await startBatchWorld(setting, (root, upstream) => prepare(root, upstream, stored));
  try {
    const killed = await killCreations(world, stored);
    const audit = await until("the books agree", async () => {
      const line = await auditLedger(world);
      return line.includes(AGREES) && line;
    }).catch(() => auditLedger(world));
    const caches = await Promise.all(killed.map((one) => judge(world, one, stored)));
    const lines = world.replicas.all.flatMap(({ process }) => process.logs);
    const unknown = lines.filter(({ message }) =>
      String(message).startsWith("the creation of a cache was interrupted"),
    );
    return { setting, caches, audit, unknown: unknown.length };
  } finally {
    await world.stop();
  }
}

/** Returns what is wrong, in words. */
export function listCacheProblems({ caches, audit }: CacheReport): string[] {
  return [
    ...caches.flatMap(({ step, problems }) => problems.map((problem) => `${step}: ${problem}`)),
    ...(audit.includes(AGREES) ? [] : [`ledger audit: ${audit}`]),
  ];
}

async function prepare(root: Session, upstream: Upstream, stored: Stored): Promise<void> {
  await createChannel(root, { type: 24, base_url: upstream.url, models: MODEL });
  await setOptions(root, {
    CacheStoragePrices: JSON.stringify({ [MODEL]: 1 }),
    ModelRatio: JSON.stringify({ [MODEL]: 0.75 }),
  });
  let serial = 0;
  upstream.script("/cachedContents", ({ json }) => {
    const name = `cachedContents/up${++serial}`;
    stored.set(name, JSON.stringify(json?.["contents"]));
    upstream.script(`/${name}`, ({ method }) => {
      if (method === "DELETE") stored.delete(name);
      return { body: {} };
    });
    const times = { createTime: "2026-11-28T10:00:00Z", updateTime: "2026-11-28T10:00:00Z" };
    const body = { name, model: `models/${MODEL}`, ...times, usageMetadata: { totalTokenCount: TOKENS } };
    return { body, ...(json?.["ttl"] === WITHHELD && { stallsAfter: 10 }) };
  });
}

async function create({ key, userId }: Story, url: string, ttl = "3600s"): Promise<number | undefined> {
  const text = `${nameText(userId)} ${"The quick brown fox jumps over the lazy dog. ".repeat(2_000)}`;
  const body = { model: `models/${MODEL}`, ttl, contents: [{ role: "user", parts: [{ text }] }] };
  const headers = { "x-goog-api-key": key, "content-type": "application/json" };
  try {
    const response = await fetch(`${url}/v1beta/cachedContents`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return response.status;
  } catch {
    // The replica that took the call was killed.
    return undefined;
  }
}

const nameText = (userId: number) => `story-of-${userId}-`;
const countStored = (stored: Stored, { userId }: Story) =>
  [...stored.values()].filter((text) => text.includes(nameText(userId))).length;

async function findRow({ database }: BatchWorld, { userId }: Story): Promise<SqlRow | undefined> {
  return (await runSql(database, `select * from upstream_caches where user_id = ${userId}`))[0];
}

/** The process dies before the reservation, before the answer, before the name is written, and before the deposit. */
async function killCreations(world: BatchWorld, stored: Stored): Promise<KilledCache[]> {
  const { url } = requireReplica(world.replicas, 0);
  const { database } = world;
  const answers: Promise<number | undefined>[] = [];
  const held: RowLock[] = [];
  const start = (story: Story, ttl?: string) => void answers.push(create(story, url, ttl));
  const untilStored = (story: Story) =>
    until("the upstream has the cache", () => Promise.resolve(countStored(stored, story) > 0));

  const unread = await world.addStory(0);
  start(unread, WITHHELD);
  await untilStored(unread);
  const killed: KilledCache[] = [
    { ...unread, step: "the upstream has it, its answer was not read", charged: 0, leftUpstream: 1 },
  ];
  // With Redis, no row of the database is locked for a reservation, so the process cannot be held there.
  if (world.redisUrl === undefined) {
    // All users first, because MariaDB lets a statement wait for a row for ten seconds only.
    const [deposited, unbooked, unreserved] = [
      await world.addStory(0),
      await world.addStory(0),
      await world.addStory(0),
    ];
    const name = await holdBeforeName(world, deposited, start);
    await untilStored(deposited);
    held.push(await lockRow(database, "tokens", deposited.tokenId));
    await name.release();
    await until("the charge of its input is noted", () => isChargeNoted(world, deposited));
    await sleep(RENEWED_MS); // a renewal must not replace the charge
    killed.push({ ...deposited, step: "its name is written, its deposit is not", charged: INPUT, leftUpstream: 0 });

    held.push(await holdBeforeName(world, unbooked, start));
    await untilStored(unbooked);
    killed.push({
      ...unbooked,
      step: "the upstream has answered, its name is not written",
      charged: 0,
      leftUpstream: 1,
    });

    // The last one, because other reservations of the process wait for this one.
    held.push(await lockRow(database, "tokens", unreserved.tokenId));
    start(unreserved);
    await until("its row is written", () => findRow(world, unreserved));
    killed.push({ ...unreserved, step: "its row is written, nothing is reserved", charged: 0, leftUpstream: 0 });
    await until("every creation waits for a row", async () => (await countWaiting(database)) >= held.length);
  }
  await world.kill(0, async () => {
    // A server carries out a statement that waits for a row although its client is dead.
    await endWaiting(database);
    await until("no statement of the dead process waits", async () => (await countWaiting(database)) === 0);
    await Promise.all(held.map((lock) => lock.release()));
  });
  const statuses = (await Promise.all(answers)).filter((status) => status !== undefined);
  if (statuses.length > 0) throw new Error(`creations were answered with ${statuses.join()}`);
  for (const story of killed) {
    await runSql(world.database, `update upstream_caches set ${OLD} where user_id = ${story.userId}`);
    await until("the row of a cache is closed", async () => (await findRow(world, story)) === undefined);
    await until("nothing is reserved", async () => (await readHolds(world, story)) === 0);
  }
  return killed;
}

/** Starts a creation that reserves and is sent, and then waits to write its name. */
async function holdBeforeName(world: BatchWorld, story: Story, start: (story: Story) => void): Promise<RowLock> {
  const token = await lockRow(world.database, "tokens", story.tokenId);
  start(story);
  const row = await until("its row is written", () => findRow(world, story));
  const lock = await lockRow(world.database, "upstream_caches", String(row["id"]));
  await token.release();
  return lock;
}

async function isChargeNoted({ database }: BatchWorld, { userId }: Story): Promise<boolean> {
  const holds = await runSql(database, `select seen from holds where user_id = ${userId}`);
  return holds.some(({ seen }) => String(seen).includes(`"quota":${INPUT},`));
}

async function readHolds({ database }: BatchWorld, { userId }: Story): Promise<number> {
  const [row] = await runSql(database, `select count(*) as count from holds where user_id = ${userId}`);
  return Number(row?.["count"]);
}

async function judge(world: BatchWorld, cache: KilledCache, stored: Stored): Promise<CacheVerdict> {
  const { database } = world;
  const { userId, charged, leftUpstream } = cache;
  const ledger = await runSql(database, `select kind, quota from ledger where user_id = ${userId} order by id`);
  const [user] = await runSql(database, `select quota, used_quota from users where id = ${userId}`);
  const sumOf = (...kinds: readonly string[]) =>
    ledger.filter(({ kind }) => kinds.includes(String(kind))).reduce((sum, { quota }) => sum + Number(quota), 0);
  const paid = ledger.filter(({ kind, quota }) => kind === "consume" && Number(quota) !== 0).length;
  const facts: readonly (readonly [string, number, number])[] = [
    ["open deposits", sumOf("deposit", "return"), 0],
    ["charges", 0 - sumOf("consume"), charged],
    ["rows of charges", paid, charged === 0 ? 0 : 1],
    ["balance", Number(user?.["quota"]), QUOTA - charged],
    ["used quota", Number(user?.["used_quota"]), charged],
    ["caches upstream", countStored(stored, cache), leftUpstream],
  ];
  const problems = facts
    .filter(([, found, wanted]) => found !== wanted)
    .map(([name, found, wanted]) => `${name} is ${found} instead of ${wanted}`);
  return { ...cache, problems };
}
