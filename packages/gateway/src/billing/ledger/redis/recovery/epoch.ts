import { setTimeout as pause } from "node:timers/promises";
import { repeat } from "../../../../lib/async/repeat.ts";
import type { Runnable } from "../../../../lib/async/runnable.ts";
import type { Logger } from "../../../../observability/log.ts";
import type { RedisClient } from "../../../../redis/client.ts";
import type { RawDatabase } from "../../../../storage/engines/raw.ts";
import { type LedgerState, nextEpoch } from "./epoch-store.ts";
import { ALIVE, BEGIN_EPOCH, CLOSE_SHARD, OPEN } from "../scripts.ts";

/** The state of the data in Redis. */
export type Memory = "empty" | "doubtful" | "intact";

export interface EpochDeps {
  readonly redis: RedisClient;
  readonly database: RawDatabase;
  readonly state: LedgerState;
  readonly log: Logger;
  /** Unique name of this process among the replicas. */
  readonly instanceId: string;
  /** Replays the settlements of the last minutes and the open reservations of this process to Redis. */
  readonly replay: (redisIs: Memory) => Promise<void>;
  /** Time that other processes have to detect that Redis lost its data. */
  readonly barrierMs?: number;
}

/**
 * Decides when balances and budgets in Redis can be trusted. Each shard stores the epoch in which its balances were
 * loaded, and so do the budgets. The epoch is missing after a wipe, and is removed when Redis lost data that it had
 * acknowledged. Then every process replays its journal to Redis, and the shards are opened in the next epoch, in which
 * balances are loaded again.
 */
export interface Epochs extends Runnable {
  /** The epoch that this process last saw. */
  readonly current: number;
  /** Called when a shard is closed. */
  closed(): void;
  /** Called when the database has a later epoch than this one: the process that began it may have died. */
  ended(epoch: number): void;
  /** Called when Redis has lost data that it acknowledged before `at`, a time of `performance.now`. */
  lost(reason: string, at: number): void;
  /** Resolves when no recovery is running, or after `ms`. */
  settled(ms: number): Promise<void>;
  /** Returns true if Redis is intact; otherwise waits for the recovery, up to `ms`. */
  confirm(ms: number): Promise<boolean>;
}

const BEAT_MS = 1_000;
const BARRIER_MS = 1_500;
/** Longest wait for a process that is alive but does not answer. */
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
  /** Redis lost data again during the replay. */
  #lostMeanwhile: string | undefined;
  /** The journal has not been replayed in the current epoch yet. */
  #isBehind = false;
  #isStopped = false;

  constructor(deps: EpochDeps) {
    this.#deps = deps;
    this.#current = deps.state.epoch;
    this.#beats = repeat({
      name: "epoch",
      everyMs: BEAT_MS,
      work: () => this.#beat(),
      onError: (error) => deps.log.debug("the heartbeat could not be sent", { error }),
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
      // A restored database is behind the balances in Redis.
      this.#current = Math.max(this.#current, ...epochs.map((epoch) => epoch ?? 0));
      const isPartlyWiped = epochs.includes(undefined);
      await this.#recover("no other process has the balances", isPartlyWiped ? "doubtful" : "intact");
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

  /** Recovers until it succeeds. Never rejects. */
  async #recoverUntilDone(reason: string, redisIs: Memory): Promise<void> {
    while (!this.#isStopped) {
      try {
        return await this.#recover(reason, redisIs);
      } catch (error) {
        if (this.#isStopped) return;
        this.#deps.log.error("balances in Redis could not be rebuilt yet; retrying", { error });
        await pause(BEAT_MS);
      }
    }
  }

  async #recover(reason: string, redisIs: Memory): Promise<void> {
    const { redis, database, log, replay, barrierMs = BARRIER_MS } = this.#deps;
    const startedAt = performance.now();
    this.#recoveringSince = startedAt;
    this.#lostMeanwhile = undefined;
    // No process books between the beginning of an epoch and its opening, so Redis must be reachable first.
    await this.#others();
    this.#current = await nextEpoch(database, this.#current);
    const epoch = this.#current;
    log.warn("balances in Redis are reloaded", { reason, epoch });
    await this.#toAll(CLOSE_SHARD);
    const begin = { script: BEGIN_EPOCH, keys: [redis.keys.recovering], args: [epoch, REMEMBER_SECONDS] };
    await redis.sendOne(begin, TIMEOUT_MS);
    await replay(redisIs);
    this.#isBehind &&= redisIs === "intact";
    await this.#caughtUp();
    // If Redis lost nothing, no other process has anything to replay.
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
    // If Redis was emptied after the last check, opening it would declare it complete.
    if ((await this.#latest()) < epoch) return this.#recover(EMPTIED, "empty");
    log.info("balances in Redis may be used again", { epoch, ms: Math.round(performance.now() - startedAt) });
  }

  /** Joins an epoch of Redis that another process is opening or has opened. */
  async #join(redisIs: Memory): Promise<void> {
    await this.#deps.replay(redisIs);
    await this.#caughtUp();
  }

  /**
   * Waits until all other processes have replayed, with a minimum and a maximum time. Returns the latest epoch in
   * Redis; a different one ends the wait and means that the replay was incomplete.
   */
  async #barrier(earliest: number, longest: number): Promise<number> {
    for (;;) {
      if (this.#isStopped) throw new Error("the process is stopping; another one opens the balances");
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
    const answer = await redis.sendOne({ command: "hmget", args: [redis.keys.caughtUp, ...others] }, TIMEOUT_MS);
    return (answer as (string | null)[]).every((epoch) => Number(epoch ?? 0) >= this.#current);
  }

  /** Returns the latest epoch that Redis knows; 0 if Redis was emptied since the last recovery began. */
  async #latest(): Promise<number> {
    const { redis } = this.#deps;
    return Number((await redis.sendOne({ command: "get", args: [redis.keys.recovering] }, TIMEOUT_MS)) ?? 0);
  }

  async #caughtUp(): Promise<void> {
    const { redis, instanceId } = this.#deps;
    await redis.sendOne({ command: "hset", args: [redis.keys.caughtUp, instanceId, this.#current] }, TIMEOUT_MS);
  }

  /** Sends the heartbeat of this process and returns the other processes with a recent one. */
  async #others(): Promise<string[]> {
    const { redis, instanceId } = this.#deps;
    const alive = await redis.sendOne(
      { script: ALIVE, keys: [redis.keys.replicas], args: [instanceId, ALIVE_MS] },
      TIMEOUT_MS,
    );
    return (alive as string[]).filter((name) => name !== instanceId);
  }

  /** Detects, independently of requests, that Redis was emptied or is in a later epoch than this process. */
  async #beat(): Promise<void> {
    const { redis } = this.#deps;
    if (!redis.isReady || this.#recovering) return;
    await this.#others();
    // A single server has all epochs or none of them.
    const epochs = await this.#read(redis.cluster ? undefined : 1);
    const known = epochs.filter((epoch) => epoch !== undefined);
    const latest = Math.max(...known);
    if (known.length === 0) this.#begin("Redis was emptied", "empty");
    else if (known.length < epochs.length) this.#begin("a part of Redis was emptied", "doubtful");
    else if (Math.min(...known) < this.#current) this.#begin("Redis fell back to an earlier state", "doubtful");
    else if (latest > this.#current || this.#isBehind) await this.#catchUp(latest);
  }

  /**
   * Replays the journal of this process. Retried with every heartbeat until it succeeds, because no other process has
   * this journal.
   */
  async #catchUp(epoch: number): Promise<void> {
    this.#current = epoch;
    this.#isBehind = true;
    try {
      await this.#join("doubtful");
      this.#isBehind = false;
    } catch (error) {
      this.#deps.log.warn("the journal could not be replayed to Redis; retrying", { error, epoch });
    }
  }

  async #read(count?: number): Promise<(number | undefined)[]> {
    const { redis } = this.#deps;
    const calls = redis.keys.epochs.slice(0, count).map((key) => ({ command: "get", args: [key] }));
    const answers = await redis.send(calls, TIMEOUT_MS);
    return answers.map((answer) => {
      if (answer instanceof Error) throw answer;
      return typeof answer === "string" ? Number(answer) : undefined;
    });
  }

  #open(): Promise<void> {
    return this.#toAll(OPEN);
  }

  async #toAll(script: typeof OPEN): Promise<void> {
    const { redis } = this.#deps;
    const calls = redis.keys.epochs.map((key) => ({ script, keys: [key], args: [this.#current] }));
    for (const answer of await redis.send(calls, TIMEOUT_MS)) if (answer instanceof Error) throw answer;
  }
}
