// The states of one replica, by its heartbeats every two seconds:
//
//   follower ── the row is free, or was not renewed for LEASE_MS by this replica's own clock ──▶ leader of a new term
//   leader ── heartbeat written ──▶ leader
//   leader ── no heartbeat for two thirds of LEASE_MS ──▶ follower, before any other replica may take the row
//   leader ── asked to step down ──▶ follower, for REST_MS behind all others
//
// A term is a number that only grows. Work that must not run twice confirms its term in its own transaction, because a
// paused process cannot know that it no longer leads.
import { repeat } from "../lib/async/repeat.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import type { Clock } from "../lib/clock.ts";
import { ANSWER_MS, withinTime } from "../lib/async/time-limit.ts";
import type { Logger } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import { forUpdate } from "../storage/statements.ts";
import type { RawDatabase, RawTransaction } from "../storage/engines/raw.ts";
import {
  freeLease,
  isAskedToStepDown,
  isSame,
  readLease,
  renewLease,
  takeLease,
  type Claim,
  type LeaseRow,
} from "../storage/leases.ts";

/** Elects one leader among the replicas, for work that must not run twice. */
export interface Elector extends Runnable {
  readonly isLeader: boolean;
  /** Aborted when this replica no longer leads. While it does not lead, this is the signal of its next term. */
  readonly signal: AbortSignal;
  /**
   * Throws unless the term of this replica is still the latest. A paused process may believe that it leads, so code
   * that is not idempotent calls this in its transaction, which protects it until the commit.
   */
  confirm(tx: RawTransaction): Promise<void>;
  /** Called immediately after each change. */
  subscribe(listener: (isLeader: boolean) => void): void;
}

/**
 * A second condition for leading, such as a Lease of Kubernetes. A replica without it never takes the row in the
 * database.
 */
export interface Permit {
  /** False as soon as another replica may take it, by the monotonic clock of this process. */
  readonly isHeld: boolean;
  /** Renews the permit, or takes it if it is free. */
  beat(limit: AbortSignal): Promise<void>;
  /** Frees the permit, so that another replica takes over at its next heartbeat. */
  free(limit: AbortSignal): Promise<void>;
  /** Frees the permit for the last time. */
  release(limit: AbortSignal): Promise<void>;
}

export interface ElectorSettings {
  readonly database: RawDatabase;
  readonly permit?: Permit;
  /** Name of this replica, never reused. */
  readonly holder: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "leaderChanged">;
  readonly leaseMs?: number;
  readonly renewMs?: number;
  /** Timeout of a heartbeat. */
  readonly answerMs?: number;
  /** Monotonic milliseconds. */
  readonly elapsed?: () => number;
}

/** Thrown if another replica has taken over. */
export class LeadershipLost extends Error {
  override readonly name = "LeadershipLost";
}

export const LEASE_MS = 15_000;
/** Heartbeat interval. A leader that was killed is replaced after the lease and up to two intervals. */
const RENEW_MS = 2_000;
/** A leader that was asked to step down leads again after this time if no other replica took over. */
const REST_MS = 30_000;
/** Time limit for releasing the lease; if it is not released, it expires. */
const FREE_MS = 2_000;
/** The same heartbeat failure is logged at this interval. */
const REPEAT_LOG_MS = 60_000;

/** Creates the elector of an installation's only replica, which always leads. */
export function createSingleElector(): Elector {
  const never = new AbortController();
  return {
    name: "elector",
    isLeader: true,
    signal: never.signal,
    start() {},
    stop: () => never.abort(),
    confirm: () => Promise.resolve(),
    subscribe: (listener) => listener(true),
  };
}

/**
 * Elects by the row `leader` of `leases`. Clocks of machines are never compared: a lease is free if it was not renewed
 * for its duration by the monotonic clock of the observer. The leader stops a third of that time earlier.
 */
export function createDatabaseElector(settings: ElectorSettings): Elector {
  return new DatabaseElector(settings);
}

class DatabaseElector implements Elector {
  readonly name = "elector";
  readonly #settings: ElectorSettings;
  readonly #leaseMs: number;
  readonly #answerMs: number;
  readonly #elapsed: () => number;
  readonly #beating: Runnable;
  readonly #listeners = new Set<(isLeader: boolean) => void>();
  /** 0 = another replica leads. */
  #term = 0;
  #renewedAt = 0;
  #lost = new AbortController();
  /** A term of this replica that ended but whose row could not be freed. */
  #left: number | undefined;
  /** The lease of another replica, and when this state was first observed. */
  #seen: { readonly row: LeaseRow; readonly at: number } | undefined;
  /** Monotonic milliseconds until which other replicas have precedence. */
  #restsUntil = Number.NEGATIVE_INFINITY;
  #logged: { readonly reason: string; readonly at: number } | undefined;

  constructor(settings: ElectorSettings) {
    this.#settings = settings;
    this.#leaseMs = settings.leaseMs ?? LEASE_MS;
    this.#answerMs = settings.answerMs ?? ANSWER_MS;
    this.#elapsed = settings.elapsed ?? (() => performance.now());
    this.#beating = repeat({
      name: "elector",
      everyMs: settings.renewMs ?? RENEW_MS,
      work: () => withinTime(this.#answerMs, (limit) => this.#beat(limit)),
      onError: (error) => {
        this.#stepDownIfLate();
        this.#logFailure(error);
      },
    });
  }

  get isLeader(): boolean {
    const isPermitted = this.#settings.permit?.isHeld ?? true;
    return this.#term > 0 && isPermitted && this.#elapsed() - this.#renewedAt < (this.#leaseMs * 2) / 3;
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  async start(): Promise<void> {
    try {
      await withinTime(this.#answerMs, (limit) => this.#contend(limit));
    } catch (error) {
      // A replica serves even if the server of its permit is unavailable.
      if (!this.#settings.permit) throw error;
      this.#logFailure(error);
    }
    await this.#beating.start();
  }

  async stop(): Promise<void> {
    await this.#beating.stop();
    this.#stepDown("the process ends");
    await this.#release(() => this.#freeLeft());
    // The permit is freed after the row, so that the replica that takes the permit finds the row free.
    await this.#release((limit) => this.#settings.permit?.release(limit));
  }

  async confirm(tx: RawTransaction): Promise<void> {
    const { database, holder } = this.#settings;
    const row = await readLease(tx, forUpdate(database.kind));
    if (this.#term === 0 || row?.holder !== holder || row.term !== this.#term)
      throw new LeadershipLost("another replica took over");
  }

  subscribe(listener: (isLeader: boolean) => void): void {
    this.#listeners.add(listener);
    listener(this.isLeader);
  }

  /** Ignores the result of a heartbeat that timed out: the next one has already begun. */
  async #beat(limit: AbortSignal): Promise<void> {
    this.#stepDownIfLate();
    await this.#freeLeft();
    limit.throwIfAborted();
    await (this.#term > 0 ? this.#renew(limit) : this.#contend(limit));
    this.#logged = undefined;
  }

  async #renew(limit: AbortSignal): Promise<void> {
    const { database, permit } = this.#settings;
    const at = this.#elapsed();
    const isRenewed = await renewLease(database, this.#claim(this.#term));
    limit.throwIfAborted();
    if (!isRenewed) return this.#stepDown("another replica took over");
    this.#renewedAt = at;
    if (await isAskedToStepDown(database, this.#claim(this.#term))) return this.#makeWay(limit);
    if (!permit) return;
    await permit.beat(limit);
    limit.throwIfAborted();
    if (permit.isHeld) return;
    this.#stepDown("another replica holds the Lease");
    await this.#freeLeft();
  }

  /** Steps down: frees the row first, like when stopping. */
  async #makeWay(limit: AbortSignal): Promise<void> {
    limit.throwIfAborted();
    this.#restsUntil = this.#elapsed() + REST_MS;
    this.#stepDown("it was asked to step down");
    await this.#freeLeft();
    await this.#settings.permit?.free(limit);
  }

  async #contend(limit: AbortSignal): Promise<void> {
    const { database, permit } = this.#settings;
    // This read precedes the permit, because a replica without its database must not block the permit for others.
    const row = await readLease(database);
    limit.throwIfAborted();
    const at = this.#elapsed();
    const isFree = this.#isFree(row, at);
    if (this.#rests(row, at)) return;
    if (permit) {
      await permit.beat(limit);
      limit.throwIfAborted();
      if (!permit.isHeld) return;
    }
    if (!isFree) return;
    const term = (row?.term ?? 0) + 1;
    const isTaken = await takeLease(database, row, this.#claim(term));
    limit.throwIfAborted();
    if (!isTaken) return;
    this.#term = term;
    this.#renewedAt = at;
    this.#tell(true, { term });
  }

  /** Returns true if the row is free, including if this replica still holds it from an ended term. */
  #isFree(row: LeaseRow | undefined, at: number): boolean {
    if (!row || row.holder === "" || row.holder === this.#settings.holder) return true;
    if (!isSame(this.#seen?.row, row)) this.#seen = { row, at };
    return at - (this.#seen?.at ?? at) >= this.#leaseMs;
  }

  /**
   * Returns true until another replica has led, so that the replica that stepped down does not take the free row first.
   */
  #rests(row: LeaseRow | undefined, at: number): boolean {
    const isFollowed = row !== undefined && row.holder !== "" && row.holder !== this.#settings.holder;
    if (isFollowed) this.#restsUntil = at;
    return at < this.#restsUntil;
  }

  async #freeLeft(): Promise<void> {
    const term = this.#left;
    if (term === undefined) return;
    await freeLease(this.#settings.database, { holder: this.#settings.holder, term });
    this.#left = undefined;
  }

  async #release(work: (limit: AbortSignal) => Promise<void> | undefined): Promise<void> {
    try {
      await withinTime(Math.min(FREE_MS, this.#answerMs), async (limit) => work(limit));
    } catch (error) {
      this.#settings.log.warn("the leader lease could not be released; it expires", { error });
    }
  }

  #logFailure(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    const at = this.#elapsed();
    if (this.#logged?.reason === reason && at - this.#logged.at < REPEAT_LOG_MS) return;
    this.#logged = { reason, at };
    this.#settings.log.warn("the leader lease could not be renewed", { error });
  }

  #claim(term: number): Claim {
    const { holder, clock } = this.#settings;
    return { holder, term, expiresAt: clock.now() + this.#leaseMs };
  }

  #stepDownIfLate(): void {
    if (!this.isLeader) this.#stepDown("the lease could not be renewed in time");
  }

  #stepDown(reason: string): void {
    if (this.#term === 0) return;
    this.#left = this.#term;
    this.#term = 0;
    this.#lost.abort(new LeadershipLost(reason));
    this.#lost = new AbortController();
    this.#tell(false, { reason });
  }

  #tell(isLeader: boolean, fields: { readonly term: number } | { readonly reason: string }): void {
    const { metrics, log, holder } = this.#settings;
    metrics.leaderChanged();
    log.info(isLeader ? "leading" : "no longer leading", { holder, ...fields });
    for (const listener of this.#listeners) listener(isLeader);
  }
}
