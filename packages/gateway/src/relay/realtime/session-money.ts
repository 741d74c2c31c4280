import { quota as quotaOf, type Quota } from "../../billing/money/quota.ts";
import { ratio } from "../../billing/money/ratio.ts";
import { SESSION_TENTHS_AHEAD } from "../../billing/pricing/estimate.ts";
import { charge } from "../../billing/pricing/price.ts";
import type { LogDetail } from "../../billing/ledger/ledger.ts";
import type { Usage } from "../../dialects/core/types.ts";
import { consumptionLog, type SessionFacts } from "../reservation/log-row.ts";
import { chargeOrReserved, type Bill, type Reservation } from "../reservation/reservation.ts";
import { isPriced, type Terms } from "../reservation/reservation-terms.ts";
import type { RequestContext } from "../reservation/reserve.ts";
import type { Completion } from "../response/sink.ts";
import type { RouteTarget } from "../selection/types.ts";
import { sum } from "./usage-sum.ts";

/** Usage of a session, separately for the model that answers and for those that transcribe. */
export interface SessionUsage {
  readonly answers: Usage;
  readonly transcripts: ReadonlyMap<string, Usage>;
}

/** What a session's money reads of its conversation, and tells it. */
interface SessionWatch {
  /** Returns the usage so far: with what is reserved for open answers, or with what they have used. */
  readUsage(isReserved: boolean): SessionUsage;
  /** Called once, when the balance or a hard budget covers no more. */
  onExhausted(): void;
}

/**
 * The money of one session: raised before each answer and while it is spoken, settled once. It holds the charge
 * that applies if this process dies; once a raise was refused, the charge never exceeds it.
 */
export class SessionMoney {
  readonly #context: RequestContext;
  readonly #reservation: Reservation;
  readonly #terms: Terms;
  readonly #watch: SessionWatch;
  /** The channel that serves; undefined until it does. */
  #target: RouteTarget | undefined;
  #isExhausted = false;
  /** Time of the beginning, by the monotonic clock. */
  #begunAt: number | undefined;
  #endedAt: number | undefined;
  /** Raises run one after another. */
  #raising: Promise<boolean> = Promise.resolve(true);

  constructor(
    context: RequestContext,
    { reservation, terms }: { readonly reservation: Reservation; readonly terms: Terms },
    watch: SessionWatch,
  ) {
    this.#context = context;
    this.#reservation = reservation;
    this.#terms = terms;
    this.#watch = watch;
  }

  get isClosed(): boolean {
    return this.#reservation.isClosed;
  }

  /** This channel serves, and the client's side is open, so its seconds count. */
  serve(target: RouteTarget): void {
    this.#target = target;
    this.#begunAt ??= performance.now();
  }

  /** The client's seconds count no more, even if something is still awaited. */
  end(): void {
    this.#endedAt ??= performance.now();
  }

  /** True if the reservation covers everything that is open; otherwise it is raised first, and false = it cannot be. */
  carry(): true | Promise<boolean> {
    return this.#isFixed || this.#isBySecond || this.#wanted() <= this.#reservation.amount ? true : this.#raise();
  }

  /** The same after an answer was charged, which the ledger has to record. */
  charge(): true | Promise<boolean> {
    const carried = this.carry();
    // The next renewal of the session repeats, and reports, one that fails here.
    if (carried === true) void this.renew().catch(() => undefined);
    return carried;
  }

  /** Keeps the reservation alive, and ahead of the clock if seconds cost. */
  async renew(): Promise<void> {
    if (this.#isBySecond && !this.isClosed && !(await this.#raise())) return;
    if (!this.isClosed) await this.#reservation.renew(this.#bill(this.#watch.readUsage(false)));
  }

  #raise(): Promise<boolean> {
    this.#raising = this.#raising.then(() => this.#raiseOnce());
    return this.#raising;
  }

  async #raiseOnce(): Promise<boolean> {
    if (this.#isExhausted || this.isClosed) return false;
    const wanted = this.#wanted();
    if (wanted <= this.#reservation.amount) return true;
    const soFar = this.#bill(this.#watch.readUsage(false));
    // Redis or the database may be unavailable; the next answer raises again.
    const shortage = await this.#reservation.raise(wanted, soFar).catch(() => undefined);
    if (shortage === undefined) return true;
    this.#isExhausted = true;
    this.#watch.onExhausted();
    return false;
  }

  /** True for a price per call or a free model: the cost does not depend on the conversation. */
  get #isFixed(): boolean {
    const { price } = this.#terms;
    return (price.kind === "call" && price.unit !== "tenth") || !isPriced(this.#terms);
  }

  get #isBySecond(): boolean {
    const { price } = this.#terms;
    return price.kind === "call" && price.unit === "tenth" && isPriced(this.#terms);
  }

  /** Tenths of a second until now; a begun one counts whole. */
  get #tenths(): number {
    if (this.#begunAt === undefined) return 0;
    return Math.ceil(((this.#endedAt ?? performance.now()) - this.#begunAt) / 100);
  }

  #wanted(): Quota {
    return chargeOrReserved(this.#reservation.amount, () =>
      this.#quota(this.#watch.readUsage(true), SESSION_TENTHS_AHEAD),
    );
  }

  #quota({ answers, transcripts }: SessionUsage, tenthsAhead = 0): Quota {
    const { request, snapshot } = this.#context;
    const { price } = this.#terms;
    const terms = { groupRatio: this.#groupRatio(), quotaPerUnit: ratio(snapshot.options.QuotaPerUnit) };
    const used = this.#isBySecond ? { ...answers, units: this.#tenths + tenthsAhead } : answers;
    let total = charge(used, price, { ...terms, spec: request.spec }) as number;
    for (const [model, usage] of transcripts) {
      const spec = { model, operation: "audio.transcriptions" } as const;
      total += charge(usage, snapshot.prices.find(model) ?? price, { ...terms, spec });
    }
    return quotaOf(total);
  }

  #groupRatio(): string {
    const { snapshot, groups } = this.#context;
    return snapshot.prices.groupRatio(this.#target?.group ?? groups[0] ?? "default");
  }

  /** Charges what was used; returns the charge, or undefined if that was done before. */
  async settle(usage: SessionUsage, completion: Completion, facts: SessionFacts): Promise<Quota | undefined> {
    await this.#raising;
    const { request, money } = this.#context;
    const onFailure = (error: unknown) => money.onUncomputable(request.id, this.#reservation.amount, error);
    const charged = await this.#reservation.settle(() => this.#bill(usage, { completion, facts, onFailure }));
    return charged?.quota;
  }

  release(): Promise<void> {
    return this.#reservation.release();
  }

  #bill(usage: SessionUsage, end?: SessionEnd): Bill {
    const target = this.#target;
    const { amount } = this.#reservation;
    const used = chargeOrReserved(amount, () => this.#quota(usage), end?.onFailure);
    const quota = used > amount && this.#isLimited(end) ? amount : used;
    if (!target || !this.#context.snapshot.options.LogConsumeEnabled) return { quota, target };
    return { quota, target, log: this.#log(usage, { target, quota, isLimited: quota < used, end }) };
  }

  /** True if the reservation is the most that is charged: after a refused raise, and for unreported usage. */
  #isLimited(end: SessionEnd | undefined): boolean {
    return !this.#isFixed && (this.#isExhausted || end === undefined || end.facts.estimated > 0);
  }

  #log(usage: SessionUsage, { target, quota, isLimited, end }: Charging): LogDetail {
    const total = [...usage.transcripts.values()].reduce(sum, usage.answers);
    const attempt = { target, upstreamRequestId: undefined };
    return consumptionLog(this.#context.request, {
      usage: total,
      quota,
      price: this.#terms.price,
      groupRatio: this.#groupRatio(),
      reserved: this.#reservation.amount,
      completion: end?.completion ?? stopped(total),
      built: undefined,
      attempt,
      tried: [attempt],
      session: end && {
        ...end.facts,
        ...(this.#isBySecond && { seconds: this.#tenths / 10 }),
        ...(isLimited && { limited: true }),
      },
    });
  }
}

interface Charging {
  readonly target: RouteTarget;
  readonly quota: Quota;
  readonly isLimited: boolean;
  readonly end: SessionEnd | undefined;
}

interface SessionEnd {
  readonly completion: Completion;
  readonly facts: SessionFacts;
  readonly onFailure: (error: unknown) => void;
}

/** The completion that applies if this process dies now. */
function stopped(usage: Usage): Completion {
  return {
    reason: "server_shutdown",
    usage,
    countOutput: () => Promise.resolve(usage.output),
    firstContentAt: undefined,
  };
}
