// Kills a replica while batches are at every step between their creation and their last row in the ledger.
import { setTimeout as sleep } from "node:timers/promises";
import { lockRow } from "./row-lock.ts";
import { requireReplica, until, type BatchWorld, type Story } from "./world.ts";

/** How a batch has to end. */
type End = "refused" | "settled";

/** A batch that was at a step when a replica was killed. */
export interface KilledBatch extends Story {
  readonly step: string;
  readonly end: End;
}

/** What a batch has to its name. */
interface Known {
  readonly id: string;
  readonly requestId: string;
  readonly upstreamId: string;
}

const DUE = "next_poll_at = 0";
/** Long enough ago that an upstream without the batch has refused it. */
const OLD = "created_at = created_at - 1200";

async function know(world: BatchWorld, story: Story): Promise<Known> {
  const row = await until("the row of a batch exists", () => world.findBatch(story));
  return {
    id: String(row["id"]),
    requestId: String(row["request_id"]),
    upstreamId: String(row["upstream_id"]),
  };
}

const readPhase = async (world: BatchWorld, story: Story) => (await world.findBatch(story))?.["phase"];
const untilPhase = (world: BatchWorld, story: Story, phase: string) =>
  until(`a batch is ${phase}`, async () => (await readPhase(world, story)) === phase);

/** The process dies while it creates batches: one has no deposit, one was not sent, one has no answer. */
export async function killCreations(world: BatchWorld): Promise<KilledBatch[]> {
  const { upstream, database, replicas } = world;
  const serving = requireReplica(replicas, 0);
  const sent = await world.addStory(4);
  upstream.batches.holdNextAnswer();
  const answers = [world.create(sent, serving)];
  await until("the upstream has the batch", async () => upstream.batches.batches.size > 0);
  const killed: KilledBatch[] = [{ ...sent, step: "the upstream has it, its answer was not read", end: "settled" }];
  const release: (() => Promise<void>)[] = [];
  if (world.setting.database !== "SQLite") {
    const [row, deposit] = [await world.addStory(2), await world.addStory(3)];
    // A row is counted under the lock of its user; the deposit also changes the token.
    const rowLock = await lockRow(database, "tokens", row.tokenId);
    const depositLock = await lockRow(database, "tokens", deposit.tokenId);
    answers.push(world.create(row, serving), world.create(deposit, serving));
    const [known] = [await know(world, deposit), await know(world, row)];
    const batchLock = await lockRow(database, "batches", known.id);
    release.push(rowLock.release, batchLock.release);
    await depositLock.release();
    await until("the deposit is booked", async () => (await world.kinds(known.requestId)).includes("deposit"));
    killed.push(
      { ...row, step: "its row is written, its deposit is not", end: "refused" },
      { ...deposit, step: "its deposit is booked, it is not sent", end: "refused" },
    );
  }
  await world.kill(0, () => Promise.all(release.map((work) => work())));
  if ((await Promise.all(answers)).some((status) => status !== undefined)) throw new Error("a creation was answered");
  for (const one of killed) await followCreation(world, one);
  return killed;
}

/** Lets the leader find out what became of a creation, without the minutes that it waits for. */
async function followCreation(world: BatchWorld, one: KilledBatch): Promise<void> {
  const { id } = await know(world, one);
  await world.change(id, one.end === "settled" ? DUE : `${OLD}, failures = 1, ${DUE}`);
  if (one.end === "refused") return void (await untilPhase(world, one, "refused"));
  await untilPhase(world, one, "open");
  world.upstream.batches.end((await know(world, one)).upstreamId);
  await world.change(id, DUE);
  await untilPhase(world, one, "settled");
}

/** The leader dies while it polls one batch, reads the results of another, commits a third, and a fourth waits. */
export async function killSettlements(world: BatchWorld): Promise<KilledBatch[]> {
  const { upstream, database } = world;
  const hasLocks = world.setting.database !== "SQLite";
  const open = async (step: string): Promise<KilledBatch & Known> => {
    const story = await world.addStory(1);
    const status = await world.create(story, requireReplica(world.replicas, 0));
    if (status !== 200) throw new Error(`a creation was answered with ${status}`);
    return { ...story, step, end: "settled", ...(await know(world, story)) };
  };
  const polled = await open("the leader polls it");
  const read = await open("the leader has read half of its results");
  const committed = hasLocks ? [await open("the leader has written its rows, and has not committed")] : [];
  // Two are settled at a time.
  const waiting = hasLocks ? [await open("it has ended, and waits for the leader")] : [];
  const ended = [read, ...committed, ...waiting];

  // Results that could not be read yet make the time of the next attempt known.
  for (const { id, upstreamId } of ended) {
    upstream.batches.end(upstreamId, {}, { missingReads: 1, ...(id === read.id && { stalledReads: 1 }) });
    await world.change(id, DUE);
  }
  for (const one of ended)
    await until("results are unreadable", async () => (await world.findBatch(one))?.["error"] === "results_unreadable");
  const at = Date.now() + 2_000;
  for (const [index, { id }] of ended.entries()) await world.change(id, `next_poll_at = ${at + index}`);
  const locks = await Promise.all(committed.map(({ id }) => lockRow(database, "batches", id)));
  for (const { upstreamId } of [read, ...committed])
    await until("the leader reads results", async () => upstream.batches.batches.get(upstreamId)?.resultReads === 2);
  await sleep(700); // what was read whole is written now, and waits for the lock
  upstream.batches.end(polled.upstreamId, {}, { hangingPolls: 1 });
  await world.change(polled.id, DUE);
  await until("the leader polls", async () => upstream.batches.batches.get(polled.upstreamId)?.polls === 1);
  for (const { requestId } of [polled, ...ended])
    if ((await world.kinds(requestId)).join() !== "deposit") throw new Error("a batch was booked before the kill");
  await world.kill(await world.findLeader(), () => Promise.all(locks.map(({ release }) => release())));

  await world.change(polled.id, DUE);
  const all = [polled, ...ended];
  const first = await killAfterCommit(world, all);
  for (const one of all) await untilPhase(world, one, "settled");
  return all.map((one) => (one === first ? { ...one, step: `${one.step}; then killed again after its commit` } : one));
}

/** Kills the next leader as soon as it has booked the first of the batches. */
async function killAfterCommit(world: BatchWorld, all: readonly KilledBatch[]): Promise<KilledBatch> {
  const first = await until("a batch is settled", async () => {
    for (const one of all) if ((await readPhase(world, one)) === "settled") return one;
    return undefined;
  });
  await world.kill(await world.findLeader());
  return first;
}
