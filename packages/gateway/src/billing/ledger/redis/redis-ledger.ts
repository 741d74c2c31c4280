// One call's money with several replicas, and the part of this class that does each step:
//
//   hold     #reservations ── hold.lua ──▶ Redis       #accountLoader copies a balance there before its first use
//   renew    renewLive     ── renew.lua ─▶ Redis       the lease, and the settlement to book if this process dies
//   settle   #writer ─▶ #journal (disk) ─▶ #sender ── settle.lua ──▶ Redis: live balance, and a stream of charges
//   book     #settler reads the stream ─▶ database: ledger row, balance, log row in one transaction
//   deposit  createLiveDeposits books the hold of a batch in the database, then releases it in Redis
//   follow   #balanceSync copies changed balances from the database to Redis; #outbox copies log rows to their database
//
// - A journal entry is removed only when its charge can no longer be lost with Redis: #loss finds lost data, #epochs
//   restores it from the journals of all processes, #orphanedJournal adopts the journals of processes that died.
// - A charge that arrives twice is booked once, because ledger rows are unique by request id and kind.
// - While Redis does not answer, holdInDatabase reserves and #directSettlement settles in the database. `#open` knows
//   which of the two holds a reservation of this process, and it ends where it began.
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { AppError } from "../../../lib/app-error.ts";
import type { Runnable } from "../../../lib/async/runnable.ts";
import { RedisUnavailable } from "../../../redis/client.ts";
import { createLiveBudgets, type LiveBudgets } from "../../budgets/redis/live-budgets.ts";
import { createChanges } from "../booking/balance-changes.ts";
import { tellBalance } from "../booking/balance-events.ts";
import { createDirectSettlement, type DirectSettlement } from "../booking/direct-settlement.ts";
import { createOrphanedJournal, type OrphanedJournal } from "./recovery/orphaned-journal.ts";
import type { Journal } from "../journal/journal.ts";
import { isRefusal, type Ledger, type Settlement } from "../ledger.ts";
import { createLogOutbox, type LogOutbox } from "../log-outbox.ts";
import { createLiveDeposits } from "./live-deposits.ts";
import { openOwnJournal } from "./own-journal.ts";
import { readClaimed } from "./claimed.ts";
import { createOpenHolds, type OpenHolds } from "./open-holds.ts";
import type { Lease } from "../../reservations/live-reservations.ts";
import type { RedisLedgerSettings } from "./ledger-settings.ts";
import { createEpochs, type Epochs } from "./recovery/epoch.ts";
import { createBalanceSync, type BalanceSync } from "./balance-sync.ts";
import { checkRedis } from "./outage-check.ts";
import { createRedisReservations, type RedisReservations } from "./reservations.ts";
import { createDataLossDetector, type DataLossDetector } from "./recovery/data-loss-detector.ts";
import { reapLive } from "./reaper.ts";
import { releaseLive } from "./release.ts";
import { renewLive } from "./renewer.ts";
import { untilCompared } from "./recovery/reconnection.ts";
import { adoptAll, replay, type ReplayDeps } from "./recovery/replay.ts";
import { createAccountLoader, type AccountLoader } from "./account-loader.ts";
import { createRetainedCharges, type RetainedCharges } from "./recovery/retained-charges.ts";
import { createSender, type Sender } from "./sender.ts";
import { createSettlementWriter, type SettlementWriter } from "./settlement-writer.ts";
import { createSettler, type Settler } from "./settler/settler.ts";
import { createShares, type Shares, type SharesDeps } from "./shares/shares.ts";
import { createPruning } from "./pruning.ts";
import type { UserBalance } from "../booking/accounts.ts";
import { createLeaseTime } from "../../reservations/lease-time.ts";
import { createHolds } from "../sql/holds.ts";

/** The ledger for several processes: live balances in Redis, records in the database, a journal in between. */
export interface RedisLedger extends Ledger, Runnable {
  /** Rejects when Redis does not answer; the error states the effect on new requests. */
  check(): Promise<void>;
  /** Call after the commit of a changed token limit. Never rejects. */
  followTokenLimits(): Promise<void>;
  /** Sends the journals of all processes to a database that lost commits, and reads balances again. */
  databaseWentBack(): void;
  /** Unbooked charges of all processes. */
  readonly backlog: number;
  readonly journalBytes: number;
}

const LEASE_MS = 60_000;
const MAX_BACKLOG = 1_000_000;
const MAX_PENDING = 100_000;
/** Longer than any transaction of a running settler. */
const ABANDONED_MS = 20_000;
const FLUSH_MS = 10_000;
const RETRY_AFTER_MS = 5_000;
/** Short, because an orderly stop has already flushed. */
const FINISH_MS = 3_000;
/** After a reconnection, holders renew their leases before reaping starts. */
const REAP_AFTER_MS = 15_000;

/** Opens the journal; throws a file system error when its folder is not writable. */
export function createRedisLedger(settings: RedisLedgerSettings): RedisLedger {
  return new LiveLedger({ ...settings, retained: createRetainedCharges({ retainMs: 0, ...settings }) });
}

class LiveLedger implements RedisLedger {
  readonly name = "ledger";
  readonly #settings: RedisLedgerSettings & { readonly retained: RetainedCharges };
  readonly #outbox: LogOutbox | undefined;
  readonly #open: OpenHolds;
  readonly #journal: Journal;
  readonly #balanceSync: BalanceSync;
  readonly #directSettlement: DirectSettlement;
  readonly #loss: DataLossDetector;
  readonly #sender: Sender;
  readonly #writer: SettlementWriter;
  readonly #epochs: Epochs;
  readonly #settler: Settler;
  readonly #accountLoader: AccountLoader;
  readonly #reservations: RedisReservations;
  readonly #shares: Shares;
  readonly budgets: LiveBudgets;
  readonly #orphanedJournal: OrphanedJournal;
  readonly #pruning: Runnable;
  #readyAt = 0;
  #stopWatching = () => {};
  #following: Promise<unknown> = Promise.resolve();
  readonly changeWith: Ledger["changeWith"];
  readonly changeAllWith: Ledger["changeAllWith"];
  readonly deposit: Ledger["deposit"];
  readonly closeDeposit: Ledger["closeDeposit"];

  constructor(settings: RedisLedgerSettings & { readonly retained: RetainedCharges }) {
    const { redis, database, logDatabase, clock, log, leaseMs = LEASE_MS, onBalance } = settings;
    this.#settings = settings;
    this.#outbox = logDatabase && createLogOutbox({ database, logDatabase, log });
    const name = `${settings.instanceId}-${randomBytes(3).toString("hex")}`;
    const leaseTime = createLeaseTime(database.kind, settings.leaseClock);
    const holdDeps = { database, clock, log, leaseMs, leaseTime };
    const common = {
      ...holdDeps,
      sendNow: () => this.#sender.sendNow(),
      redis,
      isLogSeparate: this.#outbox !== undefined,
      onBalance: onBalance && ((user: UserBalance, charged: number) => tellBalance(user, charged, { onBalance, log })),
      balanceLimit: settings.balanceLimit,
      onLogRowRefused: settings.events.logRowRefused,
    };
    const lease = () => this.#lease();
    const { hold: holdInDatabase, budgets } = createHolds(holdDeps);
    this.#journal = openOwnJournal(settings);
    this.#open = createOpenHolds(this.#journal.sums);
    this.#balanceSync = createBalanceSync(common);
    this.#loss = createDataLossDetector(redis);
    this.#directSettlement = createDirectSettlement({
      ...common,
      onCommit: (users) => this.#committed(users),
      onBudgets: (booked) => this.budgets.follow(booked),
    });
    this.#sender = this.#createSender();
    this.#writer = createSettlementWriter({ journal: this.#journal, sender: this.#sender, log });
    this.#epochs = createEpochs({
      ...common,
      ...settings,
      instanceId: name,
      replay: (memory) => replay(memory, this.#replayDeps()),
    });
    this.budgets = createLiveBudgets({ ...common, ...settings, lease, epochs: this.#epochs, inDatabase: budgets });
    this.#settler = createSettler({
      ...common,
      abandonedMs: settings.abandonedMs ?? ABANDONED_MS,
      retainMs: settings.retainMs ?? 0,
      name,
      directSettlement: this.#directSettlement,
      epochs: this.#epochs,
      onCommit: (requestId) => this.#booked(requestId),
      onBudgets: (booked, epoch) => this.budgets.booked(booked, epoch),
      onFailure: settings.events.settlementFailed,
    });
    this.#accountLoader = createAccountLoader({ ...common, settleNow: () => this.#settler.settleNow() });
    this.#shares = this.#createShares({ holdInDatabase, holdDeps, replica: name });
    this.#reservations = this.#createReservations();
    const changes = createChanges({ database, clock, onCommit: (userId) => this.#changed(userId) });
    ({ changeWith: this.changeWith, changeAllWith: this.changeAllWith } = changes);
    const [open, balanceSync, onCommit] = [this.#open, this.#balanceSync, () => this.#outbox?.kick()];
    const deposits = createLiveDeposits({ ...common, lease, open, balanceSync, onCommit, budgets: () => this.budgets });
    ({ deposit: this.deposit, closeDeposit: this.closeDeposit } = deposits);
    this.#orphanedJournal = createOrphanedJournal(this.#replayDeps());
    this.#pruning = this.#createPruning();
  }

  #createPruning(): Runnable {
    const isChecked = () => this.#orphanedJournal.isChecked;
    return createPruning({ ...this.#settings, journal: this.#journal, settler: this.#settler, isChecked });
  }

  #createSender(): Sender {
    const { redis, log } = this.#settings;
    return createSender({
      redis,
      log,
      directSettlement: this.#directSettlement,
      settling: (settlement) => this.budgets.settling(settlement),
      acknowledge: (entry, place) => {
        if (place) this.#loss.acknowledged(place);
        this.#journal.acknowledge(entry, place);
      },
    });
  }

  #createShares(own: Pick<SharesDeps, "holdInDatabase" | "holdDeps" | "replica">): Shares {
    const [accountLoader, epochs, balanceSync] = [this.#accountLoader, this.#epochs, this.#balanceSync];
    const now = () => this.#settings.clock.now();
    const common = { ...this.#settings, ...this.#replayDeps(), ...own.holdDeps };
    return createShares({ ...common, ...own, accountLoader, epochs, balanceSync, now });
  }

  #createReservations(): RedisReservations {
    const { clock, events } = this.#settings;
    return createRedisReservations({
      ...this.#settings,
      accountLoader: this.#accountLoader,
      epochs: this.#epochs,
      lease: () => this.#lease(),
      now: () => clock.now(),
      sendNow: () => this.#sender.sendNow(),
      shares: this.#shares,
      isFull: () => this.#isFull(),
      onOutageHold: events.outageHold,
    });
  }

  #lease(): Lease {
    const { leaseClock, leaseMs = LEASE_MS } = this.#settings;
    return { now: leaseClock?.now() ?? 0, leaseMs };
  }

  #replayDeps(): ReplayDeps {
    const { redis, database, log, events } = this.#settings;
    const lease = () => this.#lease();
    return {
      onRecovered: (count) => events.recovered?.(count),
      adoptShares: () => this.#shares.adopt(),
      retained: this.#settings.retained,
      redis,
      database,
      log,
      lease,
      directSettlement: this.#directSettlement,
      journal: this.#journal,
      budgets: this.budgets,
      open: this.#open,
      loss: this.#loss,
    };
  }

  async start(): Promise<void> {
    const { redis } = this.#settings;
    await this.#loss.check();
    await this.#epochs.start();
    for (const entry of this.#journal.unacknowledged()) this.#writer.sendAgain(entry);
    this.#orphanedJournal.check();
    if (await this.#settings.retained.areMissing()) this.databaseWentBack();
    for (const part of [this.#balanceSync, this.#settler, this.#pruning, this.#shares]) await part.start();
    let isFirst = true;
    this.#stopWatching = redis.onReady(() => {
      this.#readyAt = performance.now();
      const readyAt = this.#readyAt;
      const isCurrent = () => readyAt === this.#readyAt && redis.isReady;
      if (!isFirst) void untilCompared({ compare: () => this.#compare(readyAt), isCurrent, log: this.#settings.log });
      isFirst = false;
    });
  }

  async stop(): Promise<void> {
    const { log } = this.#settings;
    this.#stopWatching();
    this.#readyAt = Infinity;
    if (!(await this.#sender.finish(FINISH_MS)))
      log.error("settlements remain in the journal until the next start", { count: this.pending });
    for (const part of [this.#shares, this.#pruning, this.#settler, this.#balanceSync, this.#epochs]) await part.stop();
    await this.#orphanedJournal.stop();
    this.#journal.close();
  }

  get pending(): number {
    return this.#writer.writing + this.#sender.pending;
  }

  get backlog(): number {
    return this.#settler.backlog;
  }

  get journalBytes(): number {
    return this.#journal.bytes;
  }

  check(): Promise<void> {
    return checkRedis(this.#settings);
  }

  async hold(request: Parameters<Ledger["hold"]>[0]): ReturnType<Ledger["hold"]> {
    const held = await this.#reservations.hold(request);
    if (!isRefusal(held.answer)) this.#open.add(held.answer, held);
    return held.answer;
  }

  renew(...[hold, seen, amount]: Parameters<Ledger["renew"]>): Promise<boolean> {
    const known = this.#open.get(hold.requestId);
    if (known?.isDirect) return this.#shares.renew(hold, seen, amount);
    const sendNow = () => this.#sender.sendNow();
    return renewLive(hold, seen, amount, { ...this.#replayDeps(), accountLoader: this.#accountLoader, sendNow });
  }

  settle(settlement: Settlement): Promise<void> {
    return this.#open.end(settlement.hold.requestId, (known) => {
      const onSent = this.budgets.ended(settlement.hold.requestId);
      return this.#writer.settle(settlement, { isDirect: false, isTight: false, ...known, onSent });
    });
  }

  release(hold: Parameters<Ledger["release"]>[0]): Promise<void> {
    return this.#open.end(hold.requestId, async (known) => {
      this.budgets.release(hold.requestId);
      if (known?.isDirect) await this.#directSettlement.release(hold);
      else await releaseLive(this.#settings.redis, hold);
    });
  }

  change(change: Parameters<Ledger["change"]>[0]): Promise<boolean> {
    return this.changeWith(() => Promise.resolve(change));
  }

  async reap(): Promise<number> {
    const { redis, clock, log, leaseClock } = this.#settings;
    this.#outbox?.kick();
    const direct = await this.#directSettlement.reap();
    const isEarly = !leaseClock && performance.now() < this.#readyAt + REAP_AFTER_MS;
    if (isEarly || !redis.isReady) return direct;
    return direct + (await reapLive({ redis, log, lease: () => this.#lease(), now: () => clock.now() }));
  }

  claimed(userId: number, tokenId: number): Promise<number> {
    return readClaimed(this.#settings.redis, userId, tokenId);
  }

  async flush(ms = FLUSH_MS): Promise<void> {
    const until = performance.now() + ms;
    const rest = () => Math.max(1, until - performance.now());
    while (!(await this.#isFlushed(rest))) {
      if (performance.now() < until) continue;
      const cause = new Error("charges have not reached the database yet");
      throw new AppError("balances_unavailable", { cause, retryAfterMs: RETRY_AFTER_MS });
    }
    // Live balances and log rows are queued in tables, so nothing is lost if they are updated later.
    const followed = Promise.all([this.#following, this.#outbox?.drained()]);
    await Promise.race([followed, pause(rest(), undefined, { ref: false })]);
  }

  /**
   * Returns whether all charges are booked. A Redis that lost its data also has empty streams; the journals restore
   * their content.
   */
  async #isFlushed(rest: () => number): Promise<boolean> {
    while (this.#writer.writing > 0 && rest() > 1) await pause(1);
    if (this.#writer.writing > 0 || !(await this.#sender.idle(rest())) || !(await this.#settler.drained(rest())))
      return false;
    try {
      return await this.#epochs.confirm(rest());
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
      await this.#settings.redis.ready(rest());
      return false;
    }
  }

  #isFull(): boolean {
    return this.backlog > (this.#settings.maxBacklog ?? MAX_BACKLOG) || this.pending > MAX_PENDING;
  }

  #committed(userIds: readonly number[]): void {
    this.#outbox?.kick();
    this.#following = Promise.all([this.#following, this.#balanceSync.follow(userIds)]).then(() => undefined);
  }

  async #changed(userId: number): Promise<void> {
    this.#outbox?.kick();
    await this.#balanceSync.follow([userId]);
  }

  followTokenLimits(): Promise<void> {
    return this.#balanceSync.followTokenLimits();
  }

  #booked(requestId: string | undefined): void {
    this.#outbox?.kick();
    if (requestId !== undefined) this.#settings.events.committed?.(requestId);
  }

  databaseWentBack(): void {
    this.#settings.retained.require();
    this.#epochs.lost("the database lost transactions that it had committed", performance.now());
  }

  async #compare(readyAt: number): Promise<void> {
    const doubt = await this.#loss.check();
    if (doubt !== undefined) {
      this.#loss.forget();
      return this.#epochs.lost(doubt, readyAt);
    }
    await adoptAll(this.#replayDeps());
    await this.#balanceSync.followRecent();
  }
}
