import { setTimeout as pause } from "node:timers/promises";
import { repeat } from "../../../../lib/async/repeat.ts";
import type { Runnable } from "../../../../lib/async/runnable.ts";
import type { Logger } from "../../../../observability/log.ts";
import type { RedisClient } from "../../../../redis/client.ts";
import { SHARDS } from "../../../../redis/keys.ts";
import type { RawDatabase } from "../../../../storage/engines/raw.ts";
import { type LedgerState, nextEpoch } from "./epoch-store.ts";
import { ALIVE, BEGIN_EPOCH, CLOSE_SHARD, OPEN } from "../scripts.ts";

/** What Redis has kept. */
export type Memory = "empty" | "doubtful" | "intact";

export interface EpochDeps {
  readonly redis: RedisClient;
  readonly database: RawDatabase;
  readonly state: LedgerState;
  readonly log: Logger;
  /** Name of this process among its replicas. */
  readonly instanceId: string;
  /** Gives Redis again what this process told it: settlements of the last minutes and open reservations. */
  readonly replay: (redisIs: Memory) => Promise<void>;
  /** How long other processes have to notice that Redis lost its memory. */
  readonly barrierMs?: number;
}

/**
 * When may balances in Redis be trusted? Each shard carries the epoch under which its balances were read. It is gone
 * when Redis was wiped, and taken away when Redis lost something that it had acknowledged. Then every process gives
 * Redis its journal again, and the shards are opened under the next epoch: balances are read anew.
 */
export interface Epochs extends Runnable {
  /** What this process last knew. */
  readonly current: number;
  /** A shard was found closed. */
  closed(): void;
  /** The database is not in this epoch any more: who began the next may not be there to bring it about. */
  ended(epoch: number): void;
  /** Redis does not have any more what it had acknowledged before `at`, a time of `performance.now`. */
  lost(reason: string, at: number): void;
  /** Resolves when no recovery runs, or after `ms`. */
  settled(ms: number): Promise<void>;
  /** True when Redis has kept everything until now; otherwise a recovery is over, or `ms` are. */
  confirm(ms: number): Promise<boolean>;
}

const BEAT_MS = 1_000;
const BARRIER_MS = 1_500;
/** A process that is alive but does not answer holds nobody up for longer. */
const LONGEST_BARRIER_MS = 6_000;
const ALIVE_MS = 3_500;
const STEP_MS = 50;
const TIMEOUT_MS = 2_000;
const REMEMBER_SECONDS = 3_600;
const EMPTIED = "Redis was emptied again";
const LATER = "another process has begun a later epoch";

export function createEpochs(deps: EpochDeps): Epochs {
  return new RedisEpochs(deps);
}

class RedisEpochs implements Epochs {
  readonly name = "epochs";
  readonly #deps: EpochDeps;
  readonly #beats: Runnable;
  #current: number;
  #recovering: Promise<void> | undefined;
  #recoveringSince = -Infinity;
  /** Redis lost something while it was told what it had lost before. */
  #lostMeanwhile: string | undefined;
  /** It knows the epoch of Redis, but could not tell Redis its journal under it yet. */
  #isBehind = false;
  #isStopped = false;

  constructor(deps: EpochDeps) {
    this.#deps = deps;
    this.#current = deps.state.epoch;
    this.#beats = repeat({
      name: "epoch",
      everyMs: BEAT_MS,
      work: () => this.#beat(),
      onError: (error) => deps.log.debug("no sign of life could be given", { error }),
    });
  }

  get current(): number {
    return this.#current;
  }

  async start(): Promise<void> {
    const { state } = this.#deps;
    const others = await this.#others();
    const epochs = await this.#read();
    const isWiped = epochs.every((epoch) => epoch === undefined);
    if (state.isNew) await this.#open();
    else if (isWiped) {
      const isUnderWay = (await this.#latest()) >= this.#current;
      await (isUnderWay ? this.#join("empty") : this.#recover("Redis knows no balances", "empty"));
    } else if (others.length === 0) {
      // A database that was restored is behind what Redis has read of it.
      this.#current = Math.max(this.#current, ...epochs.map((epoch) => epoch ?? 0));
      await this.#recover("no other process kept the balances", "intact");
    } else await this.#join("intact");
    await this.#beats.start();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#beats.stop();
    await this.#recovering;
    const { redis, instanceId } = this.#deps;
    if (redis.isReady)
      await redis.send([{ command: "zrem", args: [redis.keys.replicas, instanceId] }], TIMEOUT_MS).catch(() => []);
  }

  closed(): void {
    this.#begin("a shard is closed", "doubtful");
  }

  ended(epoch: number): void {
    if (epoch === this.#current) this.#begin(LATER, "doubtful");
  }

  lost(reason: string, at: number): void {
    if (!this.#recovering) this.#begin(reason, "doubtful");
    else if (this.#recoveringSince < at) this.#lostMeanwhile = reason;
  }

  async settled(ms: number): Promise<void> {
    if (this.#recovering) await Promise.race([this.#recovering, pause(ms, undefined, { ref: false })]);
  }

  async confirm(ms: number): Promise<boolean> {
    if (!this.#recovering) {
      const epochs = await this.#read();
      if (epochs.every((epoch) => epoch === this.#current)) return true;
      this.closed();
    }
    await this.settled(ms);
    return false;
  }

  #begin(reason: string, redisIs: Memory): void {
    if (this.#isStopped) return;
    this.#recovering ??= this.#recoverUntilDone(reason, redisIs).finally(() => {
      this.#recovering = undefined;
      if (this.#lostMeanwhile !== undefined) this.#begin(this.#lostMeanwhile, "doubtful");
    });
  }

  /** Never rejects. */
  async #recoverUntilDone(reason: string, redisIs: Memory): Promise<void> {
    while (!this.#isStopped) {
      try {
        return await this.#recover(reason, redisIs);
      } catch (error) {
        if (this.#isStopped) return;
        this.#deps.log.error("balances in Redis cannot be built anew yet, it is tried again", { error });
        await pause(BEAT_MS);
      }
    }
  }

  async #recover(reason: string, redisIs: Memory): Promise<void> {
    const { redis, database, log, replay, barrierMs = BARRIER_MS } = this.#deps;
    const startedAt = performance.now();
    this.#recoveringSince = startedAt;
    this.#lostMeanwhile = undefined;
    // With an epoch that is begun nobody books until it is brought about: not before Redis can be told of it.
    await this.#others();
    this.#current = await nextEpoch(database, this.#current);
    const epoch = this.#current;
    log.warn("balances in Redis are read anew", { reason, epoch });
    await this.#toShards(CLOSE_SHARD);
    const begin = { script: BEGIN_EPOCH, keys: [redis.keys.recovering], args: [epoch, REMEMBER_SECONDS] };
    await redis.one(begin, TIMEOUT_MS);
    await replay(redisIs);
    this.#isBehind &&= redisIs === "intact";
    await this.#caughtUp();
    // Nobody else can have told Redis anything that it lost when it lost nothing.
    const latest =
      redisIs === "intact"
        ? await this.#latest()
        : await this.#barrier(startedAt + barrierMs, startedAt + Math.max(LONGEST_BARRIER_MS, barrierMs));
    if (latest < epoch) return this.#recover(EMPTIED, "empty");
    if (latest > epoch) {
      this.#current = latest - 1;
      return this.#recover(LATER, "doubtful");
    }
    if (this.#lostMeanwhile !== undefined) return;
    await this.#open();
    // Emptied between the last look and the opening, it would look like a Redis that was told everything.
    if ((await this.#latest()) < epoch) return this.#recover(EMPTIED, "empty");
    log.info("balances in Redis may be used again", { epoch, ms: Math.round(performance.now() - startedAt) });
  }

  /** Another process leads, or has led, to the epoch of Redis. */
  async #join(redisIs: Memory): Promise<void> {
    await this.#deps.replay(redisIs);
    await this.#caughtUp();
  }

  /**
   * Until all others have caught up, between two times. Answers the latest epoch that Redis knows of: another one than
   * this means that what was told until now is not enough, and ends the wait.
   */
  async #barrier(earliest: number, longest: number): Promise<number> {
    for (;;) {
      if (this.#isStopped) throw new Error("the process ends, another one opens the balances");
      const areCaughtUp = await this.#areAllCaughtUp();
      const latest = await this.#latest();
      const now = performance.now();
      if (latest !== this.#current || now >= longest || (now >= earliest && areCaughtUp)) return latest;
      await pause(STEP_MS);
    }
  }

  async #areAllCaughtUp(): Promise<boolean> {
    const { redis } = this.#deps;
    const others = await this.#others();
    if (others.length === 0) return true;
    const answer = await redis.one({ command: "hmget", args: [redis.keys.caughtUp, ...others] }, TIMEOUT_MS);
    return (answer as (string | null)[]).every((epoch) => Number(epoch ?? 0) >= this.#current);
  }

  /** 0 when Redis was emptied since the last one began. */
  async #latest(): Promise<number> {
    const { redis } = this.#deps;
    return Number((await redis.one({ command: "get", args: [redis.keys.recovering] }, TIMEOUT_MS)) ?? 0);
  }

  async #caughtUp(): Promise<void> {
    const { redis, instanceId } = this.#deps;
    await redis.one({ command: "hset", args: [redis.keys.caughtUp, instanceId, this.#current] }, TIMEOUT_MS);
  }

  /** Other processes that gave a sign of life lately; gives one of this process. */
  async #others(): Promise<string[]> {
    const { redis, instanceId } = this.#deps;
    const alive = await redis.one(
      { script: ALIVE, keys: [redis.keys.replicas], args: [instanceId, ALIVE_MS] },
      TIMEOUT_MS,
    );
    return (alive as string[]).filter((name) => name !== instanceId);
  }

  /** Finds what no request told: that Redis was emptied, or is further than this process. */
  async #beat(): Promise<void> {
    const { redis } = this.#deps;
    if (!redis.isReady || this.#recovering) return;
    await this.#others();
    const [first] = await this.#read(1);
    if (first === undefined) this.#begin("Redis was emptied", "empty");
    else if (first < this.#current) this.#begin("Redis fell back to an earlier state", "doubtful");
    else if (first > this.#current || this.#isBehind) await this.#catchUp(first);
  }

  /** Tried with every beat until it is done: nobody else has what is in the journal of this process. */
  async #catchUp(epoch: number): Promise<void> {
    this.#current = epoch;
    this.#isBehind = true;
    try {
      await this.#join("doubtful");
      this.#isBehind = false;
    } catch (error) {
      this.#deps.log.warn("the journal could not be given to Redis, it is tried again", { error, epoch });
    }
  }

  async #read(count = SHARDS): Promise<(number | undefined)[]> {
    const { redis } = this.#deps;
    const calls = Array.from({ length: count }, (_, shard) => ({ command: "get", args: [redis.keys.epoch(shard)] }));
    const answers = await redis.send(calls, TIMEOUT_MS);
    return answers.map((answer) => {
      if (answer instanceof Error) throw answer;
      return typeof answer === "string" ? Number(answer) : undefined;
    });
  }

  #open(): Promise<void> {
    return this.#toShards(OPEN);
  }

  async #toShards(script: typeof OPEN): Promise<void> {
    const { redis } = this.#deps;
    const calls = Array.from({ length: SHARDS }, (_, shard) => ({
      script,
      keys: [redis.keys.epoch(shard)],
      args: [this.#current],
    }));
    for (const answer of await redis.send(calls, TIMEOUT_MS)) if (answer instanceof Error) throw answer;
  }
}
