import { repeat } from "../lib/async/repeat.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import type { Clock } from "../lib/clock.ts";
import { ANSWER_MS, withinTime } from "../lib/async/time-limit.ts";
import type { Logger } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import { forUpdate } from "../storage/statements.ts";
import { isDuplicate } from "../storage/errors.ts";
import type { RawDatabase, RawTransaction } from "../storage/engines/raw.ts";

/** Elects one leader among the replicas, for work that must not run twice. */
export interface Elector extends Runnable {
  readonly isLeader: boolean;
  /** Aborted when this replica no longer leads; while it does not lead, the signal of its next term. */
  readonly signal: AbortSignal;
  /**
   * Throws unless the term of this replica is still the latest. A paused process may believe that it leads, so code
   * that is not idempotent calls this in its transaction, which protects it until the commit.
   */
  confirm(tx: RawTransaction): Promise<void>;
  /** Called immediately after each change. */
  subscribe(listener: (isLeader: boolean) => void): void;
}

export interface ElectorSettings {
  readonly database: RawDatabase;
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

/** Another replica has taken over. */
export class LeadershipLost extends Error {
  override readonly name = "LeadershipLost";
}

/** Row of `leases`. */
const LEASE = "leader";
const LEASE_MS = 15_000;
const RENEW_MS = 5_000;
/** A lease that is not released expires. */
const FREE_MS = 2_000;

interface LeaseRow {
  readonly holder: string;
  readonly term: number;
  readonly expires_at: number;
}

/** The only replica of an installation always leads. */
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
 * Elects by the row `leader` of `leases`. Clocks of machines are never compared: a lease is free when it was not
 * renewed for its length by the monotonic clock of the observer. The leader stops a third of that time earlier.
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
  /** The lease of another replica, and when this state was first observed. */
  #seen: { readonly row: LeaseRow; readonly at: number } | undefined;

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
        settings.log.warn("the leader lease could not be read", { error });
        this.#stepDownIfLate();
      },
    });
  }

  get isLeader(): boolean {
    return this.#term > 0 && this.#elapsed() - this.#renewedAt < (this.#leaseMs * 2) / 3;
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  async start(): Promise<void> {
    await withinTime(this.#answerMs, (limit) => this.#contend(limit));
    await this.#beating.start();
  }

  async stop(): Promise<void> {
    await this.#beating.stop();
    const term = this.#term;
    this.#stepDown("the process ends");
    if (term === 0) return;
    const { database, holder, log } = this.#settings;
    try {
      await withinTime(Math.min(FREE_MS, this.#answerMs), () => freeLease(database, { holder, term }));
    } catch (error) {
      log.warn("the leader lease could not be released; it expires", { error });
    }
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
    await (this.#term > 0 ? this.#renew(limit) : this.#contend(limit));
  }

  async #renew(limit: AbortSignal): Promise<void> {
    const at = this.#elapsed();
    const isRenewed = await renewLease(this.#settings.database, this.#claim(this.#term));
    limit.throwIfAborted();
    if (isRenewed) this.#renewedAt = at;
    else this.#stepDown("another replica took over");
  }

  async #contend(limit: AbortSignal): Promise<void> {
    const { database } = this.#settings;
    const row = await readLease(database);
    limit.throwIfAborted();
    const at = this.#elapsed();
    if (row && row.holder !== "") {
      if (!isSame(this.#seen?.row, row)) this.#seen = { row, at };
      if (at - (this.#seen?.at ?? at) < this.#leaseMs) return;
    }
    const term = (row?.term ?? 0) + 1;
    const isTaken = await takeLease(database, row, this.#claim(term));
    limit.throwIfAborted();
    if (!isTaken) return;
    this.#term = term;
    this.#renewedAt = at;
    this.#tell(true, { term });
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

interface Claim {
  readonly holder: string;
  readonly term: number;
  readonly expiresAt: number;
}

async function readLease(tx: RawTransaction, lock = ""): Promise<LeaseRow | undefined> {
  const sql = `select holder, term, expires_at from leases where name = ?${lock}`;
  return (await tx.rows<LeaseRow>(sql, [LEASE]))[0];
}

/** False when another replica was faster. */
async function takeLease(database: RawDatabase, row: LeaseRow | undefined, claim: Claim): Promise<boolean> {
  const { holder, term, expiresAt } = claim;
  if (row) {
    const sql = "update leases set holder = ?, term = ?, expires_at = ? where name = ? and term = ? and expires_at = ?";
    return (await database.run(sql, [holder, term, expiresAt, LEASE, row.term, row.expires_at])) > 0;
  }
  try {
    const sql = "insert into leases (name, holder, term, expires_at) values (?, ?, ?, ?)";
    return (await database.run(sql, [LEASE, holder, term, expiresAt])) > 0;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

async function renewLease(database: RawDatabase, { holder, term, expiresAt }: Claim): Promise<boolean> {
  const sql = "update leases set expires_at = ? where name = ? and holder = ? and term = ?";
  return (await database.run(sql, [expiresAt, LEASE, holder, term])) > 0;
}

/** Another replica takes over at its next heartbeat. */
async function freeLease(database: RawDatabase, { holder, term }: Omit<Claim, "expiresAt">): Promise<void> {
  const sql = "update leases set holder = '', expires_at = 0 where name = ? and holder = ? and term = ?";
  await database.run(sql, [LEASE, holder, term]);
}

function isSame(a: LeaseRow | undefined, b: LeaseRow): boolean {
  return a?.holder === b.holder && a.term === b.term && a.expires_at === b.expires_at;
}
