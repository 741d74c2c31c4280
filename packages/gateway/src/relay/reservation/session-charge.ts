import { charge, type Price } from "../../billing/pricing/price.ts";
import type { LogDetail } from "../../billing/ledger/ledger.ts";
import type { Quota } from "../../billing/money/quota.ts";
import type { ServedTiers } from "../../dialects/core/served-tiers.ts";
import type { Usage } from "../../dialects/core/types.ts";
import { consumptionLog, type PaidAttempt, type Served } from "./log-row.ts";
import { chargeOrReserved, type Bill, type Reservation } from "./reservation.ts";
import { servedPrice, toolSurcharges, type RequestTerms } from "./reservation-terms.ts";
import type { RequestContext } from "./reserve.ts";
import type { Delivered } from "./session-parts.ts";

/** What a request costs at the price that serves, and its bill. */
export class SessionCharge {
  readonly #context: RequestContext;
  readonly #terms: RequestTerms;
  readonly #reservation: Reservation;
  /** The factor of the requested tiers; at the end, of those that served. */
  #price: Price;
  /** True if a tier that served has no price, or no balance covers it. */
  #isTierUnpaid = false;

  constructor(context: RequestContext, terms: RequestTerms, reservation: Reservation) {
    this.#context = context;
    this.#terms = terms;
    this.#reservation = reservation;
    this.#price = terms.price;
  }

  /**
   * A tier dearer than the requested one raises the reservation first; if nothing covers that, the requested one is
   * charged.
   */
  async priceAsServed(
    usage: Usage,
    tiers: ServedTiers,
    attempt: PaidAttempt,
    raiseTo: (amount: Quota) => Promise<void>,
  ): Promise<void> {
    const { request, snapshot } = this.#context;
    const { price, isUnpriced } = servedPrice(this.#terms, tiers, { spec: request.spec, snapshot });
    this.#isTierUnpaid = isUnpriced;
    if (price === this.#terms.price || !this.#terms.isPriced) return;
    this.#price = price;
    const isCovered = await raiseTo(this.calculateQuota(usage, attempt)).then(
      () => true,
      () => false,
    );
    if (isCovered) return;
    this.#price = this.#terms.price;
    this.#isTierUnpaid = true;
  }

  /** Returns the charge of a usage; what is reserved if it cannot be computed, which `onFailure` hears. */
  calculateQuota(usage: Usage, attempt: Served, onFailure?: (error: unknown) => void): Quota {
    const { request, snapshot } = this.#context;
    const surcharges = usage.toolCalls && toolSurcharges(usage.toolCalls, request.spec, snapshot.prices);
    const terms = {
      groupRatio: this.#findGroupRatio(attempt),
      spec: request.spec,
      surcharges,
      quotaPerUnit: this.#terms.options.quotaPerUnit,
    };
    return chargeOrReserved(this.#reservation.amount, () => charge(usage, this.#price, terms), onFailure);
  }

  buildBill(delivered: Delivered, usage: Usage, quota: Quota): Bill {
    const { target } = delivered.attempt;
    const { LogConsumeEnabled } = this.#context.snapshot.options;
    return { quota, target, log: LogConsumeEnabled ? this.buildLog(delivered, usage, quota) : undefined };
  }

  buildLog({ completion, built, attempt, tried }: Delivered, usage: Usage, quota: Quota): LogDetail {
    return consumptionLog(this.#context.request, {
      usage,
      quota,
      price: this.#price,
      isTierUnpaid: this.#isTierUnpaid,
      groupRatio: this.#findGroupRatio(attempt),
      reserved: this.#reservation.amount,
      completion,
      built,
      attempt,
      tried,
    });
  }

  #findGroupRatio(attempt: Served): string {
    return this.#context.snapshot.prices.groupRatio(attempt.target.group);
  }
}
