import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "../../../observability/log.ts";
import { RedisUnavailable, type RedisClient } from "../../../redis/client.ts";
import { selectShard } from "../../../redis/keys.ts";
import type { ScriptCall } from "../../../redis/script.ts";
import type { Charge } from "../charge.ts";
import type { Settlement } from "../ledger.ts";
import type { DirectSettlement } from "../booking/direct-settlement.ts";
import type { JournalEntry } from "../journal/journal.ts";
import type { RecordLocation } from "../journal/segment.ts";
import { settleCall } from "./calls.ts";
import { SETTLED } from "./scripts.ts";

/** A settlement that is in the journal but not in Redis yet. */
export interface Outgoing {
  readonly charge: Charge;
  /** The serialized charge. */
  readonly text: string;
  /** Undefined if the write to the journal failed. */
  readonly entry: JournalEntry | undefined;
  /** Reserved in the database, so it is booked there without Redis. */
  readonly isDirect: boolean;
  /** Called when it has reached Redis or the database. */
  readonly onSent: ((place: RecordLocation | undefined) => void) | undefined;
  /** Sent before `push` returns, instead of batched with others. */
  readonly isUrgent: boolean;
}

export interface SenderDeps {
  readonly redis: RedisClient;
  readonly directSettlement: Pick<DirectSettlement, "book">;
  readonly log: Logger;
  /** Returns the change of live budgets by a settlement; sent in the same write, before the charge can be booked. */
  readonly settling: (settlement: Settlement) => ScriptCall | undefined;
  readonly acknowledge: (entry: JournalEntry, place: RecordLocation | undefined) => void;
}

/** Sends settlements from the journal to Redis in batches and retries until they succeed. */
export interface Sender {
  push(outgoing: Outgoing): void;
  /** Sends waiting settlements now instead of batching more. */
  sendNow(): void;
  /** Settlements that have reached neither Redis nor the database. */
  readonly pending: number;
  /** Resolves when no settlement is left, or after `ms`; returns whether none is left. */
  idle(ms: number): Promise<boolean>;
  /**
   * Like `idle`, but books in the database if Redis is unavailable. Sends nothing afterwards; for the end of the
   * process.
   */
  finish(ms: number): Promise<boolean>;
}

const GATHER_MS = 5;
const AT_ONCE = 256;
const MAX_WRITES = 4;
const TIMEOUT_MS = 15_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;
/** A reaped charge can be corrected once the database has it. */
const REAPED_PAUSE_MS = 200;
/** Pause when one cluster node is unavailable; the others continue. */
const AWAY_PAUSE_MS = 200;

export function createSender(deps: SenderDeps): Sender {
  return new QueueSender(deps);
}

class QueueSender implements Sender {
  readonly #deps: SenderDeps;
  #queue: Outgoing[] = [];
  #pending = 0;
  #writes = 0;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #isUrgent = false;
  #isFinishing = false;
  #isStopped = false;
  readonly #finishing = Promise.withResolvers<void>();
  readonly #idlers = new Set<() => void>();

  constructor(deps: SenderDeps) {
    this.#deps = deps;
  }

  get pending(): number {
    return this.#pending;
  }

  push(outgoing: Outgoing): void {
    this.#pending += 1;
    this.#enqueue([outgoing]);
    if (outgoing.isUrgent) this.sendNow();
  }

  sendNow(): void {
    if (this.#queue.length === 0) return;
    clearTimeout(this.#timer);
    this.#leave();
  }

  async idle(ms: number): Promise<boolean> {
    if (this.#pending === 0) return true;
    this.#isUrgent = true;
    this.#schedule();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#idlers.delete(done);
        resolve(this.#pending === 0);
      };
      const timer = setTimeout(done, ms);
      this.#idlers.add(done);
    });
  }

  async finish(ms: number): Promise<boolean> {
    this.#isFinishing = true;
    this.#finishing.resolve();
    const isIdle = await this.idle(ms);
    this.#isStopped = true;
    return isIdle;
  }

  #enqueue(some: readonly Outgoing[]): void {
    if (this.#isStopped) return;
    this.#queue.push(...some);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#timer && !this.#isUrgent) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#leave(), this.#isUrgent ? 0 : GATHER_MS);
  }

  #leave(): void {
    this.#timer = undefined;
    this.#isUrgent = false;
    while (this.#queue.length > 0 && this.#writes < MAX_WRITES) {
      this.#writes += 1;
      void this.#write(this.#queue.splice(0, AT_ONCE)).finally(() => {
        this.#writes -= 1;
        if (this.#queue.length > 0) this.#schedule();
      });
    }
  }

  /** Writes a batch to Redis. Never rejects. */
  async #write(some: readonly Outgoing[]): Promise<void> {
    const isPastRedis = this.#isFinishing && !this.#deps.redis.isReady;
    const isPast = (outgoing: Outgoing) => outgoing.isDirect || isPastRedis;
    const direct = some.filter(isPast);
    const others = some.filter((outgoing) => !isPast(outgoing));
    if (direct.length > 0) await this.#book(direct);
    if (others.length > 0) await this.#settle(others);
  }

  async #settle(some: readonly Outgoing[]): Promise<void> {
    const { redis, log, settling } = this.#deps;
    try {
      const ofBudgets = some.flatMap(({ charge }) => settling(charge.settlement) ?? []);
      const calls = some.map(({ charge, text }) => settleCall(redis.keys, charge.settlement, text));
      const answers = await redis.sendEach([...ofBudgets, ...calls], TIMEOUT_MS);
      this.#failures = 0;
      // If the reservation of a budget could not be lowered, it remains until the charge is booked.
      await this.#sort(some, answers.slice(ofBudgets.length));
    } catch (error) {
      if (!(error instanceof RedisUnavailable))
        log.error("settlements could not be sent and will be retried", { error, waiting: this.#pending });
      await this.#wait();
      this.#enqueue(some);
    }
  }

  async #sort(some: readonly Outgoing[], answers: readonly unknown[]): Promise<void> {
    const unknown: Outgoing[] = [];
    const refused: Outgoing[] = [];
    const away: Outgoing[] = [];
    for (const [at, outgoing] of some.entries()) {
      const answer = answers[at];
      if (typeof answer === "string")
        this.#sent(outgoing, { shard: selectShard(outgoing.charge.settlement.hold.userId), id: answer });
      else if (answer === SETTLED.before) this.#sent(outgoing, undefined);
      else if (answer === SETTLED.unknown) unknown.push(outgoing);
      else if (answer === SETTLED.reaped) this.#later(outgoing, REAPED_PAUSE_MS);
      else if (answer instanceof RedisUnavailable) away.push(outgoing);
      else refused.push(outgoing);
    }
    if (refused.length > 0) {
      const error = answers.find((answer) => answer instanceof Error);
      this.#deps.log.error("Redis rejected settlements; they will be retried", {
        error,
        waiting: this.#pending,
      });
      const ms = this.#nextPause();
      for (const outgoing of refused) this.#later(outgoing, ms);
    }
    for (const outgoing of away) this.#later(outgoing, AWAY_PAUSE_MS);
    if (unknown.length > 0) await this.#book(unknown);
  }

  /** Books in the database without Redis; the database decides which charges are still due. */
  async #book(some: readonly Outgoing[]): Promise<void> {
    const { directSettlement, log } = this.#deps;
    try {
      await directSettlement.book(some.map(({ charge }) => charge));
      for (const outgoing of some) this.#sent(outgoing, undefined);
    } catch (error) {
      log.error("settlements could not be booked and will be retried", { error, waiting: this.#pending });
      await this.#wait();
      this.#enqueue(some);
    }
  }

  #sent({ entry, onSent }: Outgoing, place: RecordLocation | undefined): void {
    if (entry) this.#deps.acknowledge(entry, place);
    onSent?.(place);
    this.#pending -= 1;
    if (this.#pending === 0) for (const done of this.#idlers) done();
  }

  #later(outgoing: Outgoing, ms: number): void {
    setTimeout(() => this.#enqueue([outgoing]), ms).unref();
  }

  async #wait(): Promise<void> {
    const waits = this.#deps.redis.ready(LONGEST_PAUSE_MS).then(() => pause(this.#nextPause()));
    await Promise.race([waits, this.#finishing.promise]);
    if (this.#isFinishing) await pause(FIRST_PAUSE_MS);
  }

  #nextPause(): number {
    this.#failures += 1;
    return Math.min(FIRST_PAUSE_MS * 2 ** (this.#failures - 1), LONGEST_PAUSE_MS);
  }
}
