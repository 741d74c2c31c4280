import { setTimeout as pause } from "node:timers/promises";
import { repeat } from "../../../../lib/async/repeat.ts";
import type { Runnable } from "../../../../lib/async/runnable.ts";
import { RedisUnavailable, type RedisClient } from "../../../../redis/client.ts";
import type { Booked } from "../../booking/charge-booking.ts";
import type { DirectSettlement } from "../../booking/direct-settlement.ts";
import {
  isLogRowToBlame,
  REFUSALS,
  takesWrites,
  withoutLogRow,
  type LogRowRecoveryDeps,
} from "../../log-row-recovery.ts";
import { EpochEnded } from "../recovery/epoch-store.ts";
import type { Epochs } from "../recovery/epoch.ts";
import { bookBatch, calculateOvercharge, streamCharge, type StreamCharge } from "./batch.ts";
import { createChargeStreams, isPast, type ChargeStreams, type ReadEntry } from "./streams.ts";
import type { Clock } from "../../../../lib/clock.ts";
import type { BookedBudgets } from "../../../budgets/sql/sheet.ts";
import type { UserBalance } from "../../booking/accounts.ts";

export interface SettlerDeps extends LogRowRecoveryDeps {
  readonly redis: RedisClient;
  readonly directSettlement: Pick<DirectSettlement, "book">;
  readonly epochs: Pick<Epochs, "current" | "ended" | "settled">;
  /** Unique name of this settler among the processes. */
  readonly name: string;
  /** Called after each commit with one of the requests that it charged, if it charged any. */
  readonly onCommit: (requestId: string | undefined) => void;
  readonly onBalance: ((user: UserBalance, charged: number) => void) | undefined;
  readonly clock: Clock;
  /**
   * Called after each commit with the resulting states of budgets and its epoch. Rejects when Redis does not answer.
   */
  readonly onBudgets: (booked: BookedBudgets, epoch: number) => Promise<void>;
  /** Called when a charge could not be booked; `isFinal` is true if it is not retried. */
  readonly onFailure: (isFinal: boolean) => void;
  /**
   * A settler that received charges this long ago without booking them counts as dead, and its charges are taken over.
   */
  readonly abandonedMs: number;
  /** How long Redis retains booked charges; 0 = not at all. */
  readonly retainMs: number;
}

/** Books charges from the Redis streams in the database: in batches, each exactly once across all settlers. */
export interface Settler extends Runnable {
  /** Unbooked charges at the last poll. */
  readonly backlog: number;
  /** Starts the next transaction without waiting for more charges. */
  settleNow(): void;
  /** Resolves when all charges now in the streams are booked, or after `ms`; returns whether they are. */
  drained(ms: number): Promise<boolean>;
  /** Returns the oldest unbooked charge of each of these shards. */
  oldest(shards: Iterable<number>): Promise<ReadonlyMap<number, string>>;
}

const AT_ONCE = 500;
/** How long an incomplete batch waits for more charges. */
const GATHER_MS = 100;
const BLOCK_MS = 1_000;
const POLL_MS = 2_000;
const PRUNE_MS = 3_600_000;
const READ_PAUSE_MS = 200;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

export function createSettler(deps: SettlerDeps): Settler {
  return new StreamSettler(deps);
}

class StreamSettler implements Settler {
  readonly name = "settler";
  readonly #deps: SettlerDeps;
  readonly #streams: ChargeStreams;
  readonly #watchers: readonly Runnable[];
  /**
   * Charges that a working database rejects, by stream position. They are retried at the next takeover, so that they do
   * not block others.
   */
  readonly #setAside = new Set<string>();
  #takesOverAt = Infinity;
  #running: Promise<void> | undefined;
  #isStopped = false;
  readonly #stopping = new AbortController();
  #isHurried = false;
  /** True if Redis may have delivered charges that never arrived, or may still have booked charges. */
  #isDoubtful = false;
  #wake: (() => void) | undefined;
  #failures = 0;
  backlog = 0;

  constructor(deps: SettlerDeps) {
    this.#deps = deps;
    this.#streams = createChargeStreams({
      redis: deps.redis,
      consumer: deps.name,
      retainMs: deps.retainMs,
      onDoubt: () => (this.#isDoubtful = true),
    });
    const every = (everyMs: number, work: () => Promise<void>) =>
      repeat({
        name: this.name,
        everyMs,
        work,
        onError: (error) => deps.log.debug("the charge streams cannot be read", { error }),
      });
    this.#watchers = [
      every(POLL_MS, async () => void (this.backlog = await this.#streams.length())),
      every(PRUNE_MS, () => this.#streams.prune()),
    ];
  }

  async start(): Promise<void> {
    for (const watcher of this.#watchers) await watcher.start();
    this.#takesOverAt = this.#nextTakeover();
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopping.abort();
    this.settleNow();
    for (const watcher of this.#watchers) await watcher.stop();
    this.#streams.close();
    await this.#running;
  }

  settleNow(): void {
    this.#isHurried = true;
    this.#wake?.();
  }

  async drained(ms: number): Promise<boolean> {
    const until = performance.now() + ms;
    for (let isDone = false; !isDone;) {
      if (performance.now() > until) return false;
      try {
        isDone = await this.#passed(await this.#streams.newest(), until);
      } catch (error) {
        if (!(error instanceof RedisUnavailable)) throw error;
        await this.#deps.redis.ready(Math.max(1, until - performance.now()));
      }
    }
    this.backlog = 0;
    return true;
  }

  /** Waits until the streams have no charge up to these ids. */
  async #passed(newest: ReadonlyMap<number, string>, until: number): Promise<boolean> {
    let rest = newest;
    for (let step = 1; rest.size > 0; step = Math.min(step + 1, 20)) {
      if (performance.now() > until) return false;
      this.settleNow();
      await pause(step);
      const oldest = await this.#streams.oldest(rest.keys());
      rest = new Map([...rest].filter(([shard, id]) => !isPast(oldest.get(shard), id)));
    }
    return true;
  }

  oldest(shards: Iterable<number>): Promise<ReadonlyMap<number, string>> {
    return this.#streams.oldest(shards);
  }

  /** Books charges until the settler stops. Never rejects. */
  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        // All charges read after this line were in Redis in this epoch; none is held for a later one.
        const { current } = this.#deps.epochs;
        const charges = await this.#next();
        for (let from = 0; from < charges.length; from += AT_ONCE)
          await this.#bookUntilDone(charges.slice(from, from + AT_ONCE), current);
        if (charges.length > 0 && charges.length < AT_ONCE) await this.#gather();
      } catch (error) {
        if (this.#isStopped) return;
        if (!this.#isDoubtful) this.#deps.log.warn("charges cannot be read from Redis; retrying", { error });
        this.#isDoubtful = true;
        await this.#pause(READ_PAUSE_MS);
      }
    }
  }

  async #next(): Promise<StreamCharge[]> {
    if (!this.#isDoubtful) await this.#takeOver();
    if (!this.#isDoubtful) return this.#parseCharges(await this.#streams.read(BLOCK_MS), true);
    const mine = this.#parseCharges(await this.#streams.mine(), false);
    const due = mine.filter((charge) => !this.#setAside.has(streamKey(charge)));
    this.#isDoubtful = due.length > 0;
    // New charges come before those that were rejected repeatedly.
    if (!this.#isDoubtful) this.#takesOverAt = this.#nextTakeover();
    return due;
  }

  /** Claims charges that another settler received long ago, and retries those that were rejected. */
  async #takeOver(): Promise<void> {
    if (performance.now() < this.#takesOverAt) return;
    const { abandonedMs, log } = this.#deps;
    const { length: count } = await this.#streams.claim(abandonedMs);
    this.#takesOverAt = this.#nextTakeover();
    if (count > 0) log.warn("charges abandoned by another process were taken over", { count });
    this.#isDoubtful ||= count > 0 || this.#setAside.size > 0;
    this.#setAside.clear();
  }

  #nextTakeover(): number {
    return performance.now() + this.#deps.abandonedMs / 2;
  }

  async #gather(): Promise<void> {
    if (!this.#isHurried && !this.#isStopped) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, GATHER_MS);
        this.#wake = () => (clearTimeout(timer), resolve());
      });
      this.#wake = undefined;
    }
    this.#isHurried = false;
  }

  #parseCharges(entries: readonly ReadEntry[], isFirst: boolean): StreamCharge[] {
    return entries.flatMap(({ shard, entry }) => {
      const charge = streamCharge(shard, entry, isFirst);
      if (charge) return [charge];
      this.#deps.log.error("a stream entry is not a charge and is left in the stream", { shard, id: entry[0] });
      this.#deps.onFailure(true);
      return [];
    });
  }

  /**
   * Retries until the charges are booked. After a rejection each charge gets its own transaction, so that one cannot
   * block others.
   */
  async #bookUntilDone(charges: readonly StreamCharge[], epoch: number): Promise<void> {
    let rest = charges;
    for (let refusals = 0; rest.length > 0 && !this.#isStopped;) {
      try {
        await this.#book(rest, epoch);
        this.#failures = 0;
        return;
      } catch (error) {
        if (error instanceof EpochEnded) return this.#afterEpoch(rest, epoch);
        this.#failures += 1;
        this.#deps.onFailure(false);
        this.#deps.log.error("charges could not be booked and will be retried", {
          error,
          count: rest.length,
          failures: this.#failures,
        });
        await this.#pause(Math.min(FIRST_PAUSE_MS * 2 ** (this.#failures - 1), LONGEST_PAUSE_MS));
        rest = rest.map((charge) => ({ ...charge, isFirst: false }));
        if (!(await takesWrites(this.#deps.database))) continue;
        if (rest.length > 1) return this.#bookEach(rest, epoch);
        refusals += 1;
        if (await this.#bookedWithoutLog(rest, epoch, { error, refusals })) return;
        if (refusals >= REFUSALS) return this.#putAside(rest);
      }
    }
  }

  #putAside(charges: readonly StreamCharge[]): void {
    this.#failures = 0;
    for (const charge of charges) this.#setAside.add(streamKey(charge));
    const ids = charges.map(({ charge }) => charge.settlement.hold.requestId);
    this.#deps.log.error("charges rejected by the database remain in Redis and will be retried later", {
      request_ids: ids,
    });
  }

  async #bookEach(charges: readonly StreamCharge[], epoch: number): Promise<void> {
    for (const charge of charges) await this.#bookUntilDone([charge], epoch);
  }

  /** Books the charge without its log row when that row cannot be stored. */
  async #bookedWithoutLog(
    [charge]: readonly StreamCharge[],
    epoch: number,
    refusal: { readonly error: unknown; readonly refusals: number },
  ): Promise<boolean> {
    if (!charge || !(await isLogRowToBlame(charge.charge.settlement, refusal, this.#deps))) return false;
    const { log: _row, ...settlement } = charge.charge.settlement;
    try {
      await this.#book([{ ...charge, charge: { ...charge.charge, settlement } }], epoch);
    } catch {
      return false; // the caller retries the whole charge
    }
    withoutLogRow(charge.charge.settlement, refusal.error, this.#deps);
    return true;
  }

  /** Pauses, unless the settler stops. */
  async #pause(ms: number): Promise<void> {
    await pause(ms, undefined, this.#stopping).catch(() => undefined);
  }

  async #book(charges: readonly StreamCharge[], epoch: number): Promise<void> {
    const booked = await bookBatch(charges, epoch, this.#deps);
    const charged = charges.findLast((_, at) => booked.outcomes[at]?.kind === "booked");
    this.#deps.onCommit(charged?.charge.settlement.hold.requestId);
    this.#notifyBalances(booked);
    const undone = charges.map((charge, at) => ({ charge, quota: calculateOvercharge(charge, booked.outcomes[at]) }));
    await this.#streams.refund(undone.filter(({ quota }) => quota !== 0));
    const done = charges.filter((_, at) => booked.outcomes[at]?.kind !== "later");
    this.#isDoubtful ||= done.length < charges.length;
    if (done.length > 0) await this.#acknowledge(done, () => this.#deps.onBudgets(booked.budgets, epoch));
  }

  #notifyBalances({ users, booking }: Booked): void {
    const { onBalance } = this.#deps;
    if (onBalance) for (const user of users.values()) onBalance(user, booking.calculateUserCharge(user.id));
  }

  /** Acknowledges charges. An unacknowledged charge is read again later and then found in the database. */
  async #acknowledge(charges: readonly StreamCharge[], tellBudgets: () => Promise<void>): Promise<void> {
    try {
      await tellBudgets();
      await this.#streams.booked(charges);
    } catch (error) {
      this.#isDoubtful = true;
      this.#deps.log.warn("booked charges could not be acknowledged in Redis yet", { error, count: charges.length });
    }
  }

  /**
   * Books charges after balances were invalidated: those still in Redis as usual, lost ones directly in the database.
   */
  async #afterEpoch(charges: readonly StreamCharge[], epoch: number): Promise<void> {
    const { epochs, directSettlement } = this.#deps;
    epochs.ended(epoch);
    while (!this.#isStopped) {
      try {
        await epochs.settled(LONGEST_PAUSE_MS);
        const present = await this.#streams.filterPresent(charges);
        const lost = charges.filter((charge) => !present.has(charge));
        if (lost.length > 0) await directSettlement.book(lost.map(({ charge }) => charge));
        this.#isDoubtful ||= present.size > 0;
        return;
      } catch (error) {
        this.#deps.log.error("charges of an earlier epoch could not be booked and will be retried", {
          error,
          count: charges.length,
        });
        await this.#pause(LONGEST_PAUSE_MS);
      }
    }
  }
}

function streamKey({ shard, id }: StreamCharge): string {
  return `${shard} ${id}`;
}
