import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../../../../lib/clock.ts";
import { createLeaseTime } from "../../../reservations/lease-time.ts";
import type { Runnable } from "../../../../lib/async/runnable.ts";
import { RedisUnavailable } from "../../../../redis/client.ts";
import { ZERO } from "../../../money/quota.ts";
import type { HoldRefusal } from "../../ledger.ts";
import { releaseCall } from "../calls.ts";
import { renewKnown, type RenewalDeps } from "../renewer.ts";
import { holdLive, type LiveHoldDeps } from "../reservations.ts";
import { RENEWED } from "../scripts.ts";
import type { Logger } from "../../../../observability/log.ts";
import type { BalanceSync } from "../balance-sync.ts";
import { buildShareId } from "../calls.ts";
import { adoptShares, toLiveHold } from "./adoption.ts";
import { isGrant, writeAnswers, type AnswerDeps, type ShareAnswer } from "./answers.ts";
import { announce, announceWithout, removeKeeper } from "./keepers.ts";
import { deleteShares, NOTHING, readDue, toHoldRequest, type ShareRow } from "./share-rows.ts";

export interface KeeperDeps extends LiveHoldDeps, RenewalDeps, AnswerDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Unique name of this process among the replicas. */
  readonly replica: string;
  readonly balanceSync: Pick<BalanceSync, "follow">;
}

/** Reserves in Redis for replicas that have lost it. One replica answers at a time; the others stand by. */
export interface Keeper extends Runnable {
  /** False after Redis did not answer in time, until it does again. */
  readonly isOpen: boolean;
  /** Called when a request did not reach Redis. */
  doubt(): void;
}

const BEAT_MS = 1_000;
/** How often the table is read without a question, and shortly after one. */
const IDLE_MS = 250;
const BUSY_MS = 10;
const BUSY_FOR_MS = 2_000;
/** A Redis that is slower than this counts as away. A shorter limit would mistake a busy machine for an outage. */
const PING_MS = 2_000;
const HOLD_MS = 2_000;
const TIMEOUT_MS = 2_000;
/** Well within a lease. */
const ADOPT_MS = 10_000;
const STALE_MS = 10_000;
const WITHDRAW_MS = 1_000;

export function createKeeper(deps: KeeperDeps): Keeper {
  return new RedisKeeper(deps);
}

class RedisKeeper implements Keeper {
  readonly name = "balance keeper";
  readonly #deps: KeeperDeps;
  /** The real time, also where a test moves the leases. */
  readonly #time;
  #isOpen = false;
  #isFirst = false;
  #isStopped = false;
  /** The last turn failed, and the log says so. */
  #hasFailed = false;
  #checking: Promise<void> | undefined;
  #working: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #beatAt = -Infinity;
  #adoptedAt = -Infinity;
  #busyUntil = -Infinity;

  constructor(deps: KeeperDeps) {
    this.#deps = deps;
    this.#time = createLeaseTime(deps.database.kind);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  async start(): Promise<void> {
    await this.#check();
    this.#later(IDLE_MS);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#working;
    await this.#checking;
    // The row of a process that ends without a database is not valid for long.
    const withdrawn = removeKeeper(this.#deps.database, this.#deps.replica).catch(() => undefined);
    await Promise.race([withdrawn, pause(WITHDRAW_MS, undefined, { ref: false })]);
  }

  doubt(): void {
    if (this.#isOpen) void this.#check();
  }

  #later(ms: number): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#working = this.#turn();
    }, ms).unref();
  }

  async #turn(): Promise<void> {
    try {
      if (performance.now() > this.#beatAt + BEAT_MS) await this.#check();
      if (this.#isOpen && this.#isFirst) await this.#serve();
      this.#hasFailed = false;
    } catch (error) {
      if (error instanceof RedisUnavailable) this.doubt();
      if (!this.#hasFailed) this.#deps.log.warn("replicas without Redis have no answer yet", { error });
      this.#hasFailed = true;
    }
    this.#later(performance.now() < this.#busyUntil ? BUSY_MS : IDLE_MS);
  }

  #check(): Promise<void> {
    this.#checking ??= this.#compare().finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  /** Never rejects. A database that does not answer changes nothing: Redis serves without it. */
  async #compare(): Promise<void> {
    const { redis, database, replica, log } = this.#deps;
    this.#beatAt = performance.now();
    const hasRedis = redis.isReady && (await redis.sendOne({ command: "ping", args: [] }, PING_MS).catch(() => ""));
    try {
      if (hasRedis) {
        this.#isFirst = await announce(database, this.#time, replica);
        if (!this.#isOpen) await adoptShares(this.#deps);
        this.#isOpen = true;
        return;
      }
      [this.#isFirst, this.#isOpen] = [false, false];
      await announceWithout(database, this.#time, replica);
    } catch (error) {
      if (hasRedis) this.#isOpen = true;
      log.debug("the database does not know whether this replica has Redis", { error });
    }
  }

  async #serve(): Promise<void> {
    const { database } = this.#deps;
    if (performance.now() > this.#adoptedAt + ADOPT_MS) {
      this.#adoptedAt = performance.now();
      await adoptShares(this.#deps);
    }
    const due = await readDue(database, this.#time, STALE_MS);
    if (due.length === 0) return;
    this.#busyUntil = performance.now() + BUSY_FOR_MS;
    const { waiting = [], ended = [] } = Object.groupBy(due, ({ answer }) => (answer === "" ? "waiting" : "ended"));
    await this.#end(ended);
    const answers = await Promise.all(
      waiting.map((row) => (row.granted === NOTHING ? this.#hold(row) : this.#raise(row))),
    );
    const known = answers.filter((answer) => answer !== undefined);
    if (known.length > 0) await this.#answer(known);
    if (known.length < answers.length) this.doubt();
  }

  async #answer(answers: readonly ShareAnswer[]): Promise<void> {
    const { redis } = this.#deps;
    const unread = await writeAnswers(answers, this.#deps);
    // An extension that no replica waits for ends with its share.
    const unused = unread.filter(({ row, answer }) => row.granted === NOTHING && isGrant(answer));
    const calls = unused.map(({ row }) => releaseCall(redis.keys, toLiveHold(row)));
    if (calls.length > 0) await redis.send(calls, TIMEOUT_MS);
  }

  /** Returns undefined if Redis did not answer. */
  async #hold(row: ShareRow): Promise<ShareAnswer | undefined> {
    const { redis } = this.#deps;
    const request = toHoldRequest(row, buildShareId(row.request_id));
    try {
      // The attempt of the replica that asks may have made a reservation without an answer.
      const lost = releaseCall(redis.keys, { ...toLiveHold(row), requestId: row.request_id });
      const [{ answer }] = await Promise.all([
        holdLive(request, this.#deps, { waitMs: HOLD_MS, mayExist: true }),
        redis.sendOne(lost, HOLD_MS),
      ]);
      return { row, answer };
    } catch (error) {
      this.#deps.log.warn("a share of a balance could not be reserved", { request_id: row.request_id, error });
      return undefined;
    }
  }

  async #raise(row: ShareRow): Promise<ShareAnswer | undefined> {
    const hold = toLiveHold(row);
    const { amount } = toHoldRequest(row, hold.requestId);
    try {
      const code = await renewKnown({ hold, seen: "", amount }, this.#deps);
      return { row, answer: code === RENEWED.done ? { amount } : EXHAUSTED };
    } catch (error) {
      this.#deps.log.warn("a share of a balance could not be extended", { request_id: row.request_id, error });
      return undefined;
    }
  }

  /** Ends shares after the charges of their requests have reached Redis, so that no amount is available twice. */
  async #end(ended: readonly ShareRow[]): Promise<void> {
    const { redis, database, balanceSync } = this.#deps;
    if (ended.length === 0) return;
    const granted = ended.filter((row) => row.granted > NOTHING);
    if (!(await balanceSync.follow(granted.map(({ user_id }) => user_id)))) return;
    const calls = granted.map((row) => releaseCall(redis.keys, toLiveHold(row)));
    if (calls.length > 0) await redis.send(calls, TIMEOUT_MS);
    await deleteShares(
      database,
      ended.map(({ request_id }) => request_id),
    );
  }
}

const EXHAUSTED: HoldRefusal = { refused: "user", needed: ZERO, available: ZERO };
