import type { Budgets } from "../../billing/budgets/budgets.ts";
import type { Ledger } from "../../billing/ledger/ledger.ts";
import type { Quota } from "../../billing/money/quota.ts";
import type { TokenCounter } from "../../billing/tokenizer/token-counter.ts";
import type { Usage } from "../../dialects/core/types.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { RouteTarget } from "../selection/types.ts";
import type { RelayRequest } from "../request/request.ts";
import { requestTerms, type RequestTerms } from "./reservation-terms.ts";
import { Reservation } from "./reservation.ts";

export interface ReservationDeps {
  readonly ledger: Ledger;
  readonly budgets: Pick<Budgets, "counting">;
  readonly counter: TokenCounter;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Called if the charge of a request cannot be computed: the reserved amount is charged. */
  readonly onUncomputable: (requestId: string, charged: Quota, error: unknown) => void;
  /** Called if the upstream reported more than its answer can have cost; `usage` is what is charged. */
  readonly onDoubtfulUsage: (request: Pick<RelayRequest, "id" | "spec">, target: RouteTarget, usage: Usage) => void;
}

/** The inputs of a reservation. */
export interface RequestContext {
  readonly request: RelayRequest;
  readonly snapshot: Snapshot;
  /** Groups that may serve the request. */
  readonly groups: readonly string[];
  readonly deps: ReservationDeps;
}

export interface PricedReservation {
  readonly terms: RequestTerms;
  readonly reservation: Reservation;
}

/**
 * Reserves the estimate, or the result of `exactly` if the charge is known in advance. Throws `model_price_error`,
 * `insufficient_user_quota` or `insufficient_token_quota`.
 */
export async function reserve(
  { request, snapshot, groups, deps }: RequestContext,
  terms: RequestTerms = requestTerms(request, snapshot, groups),
  exactly?: Quota,
): Promise<PricedReservation> {
  const { amount, wished, isPriced } = terms;
  const wanted = {
    requestId: request.id,
    caller: request.caller,
    amount: exactly ?? amount,
    ...(exactly === undefined && wished !== undefined && { wished }),
    isCharged: exactly === undefined ? isPriced : exactly > 0,
  };
  return { terms, reservation: await Reservation.open(wanted, { ledger: deps.ledger, snapshot }) };
}
