import type { Quota } from "../../billing/money/quota.ts";
import type { TokenCounter } from "../../billing/tokenizer/token-counter.ts";
import type { Usage } from "../../dialects/core/types.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { RouteTarget } from "../selection/types.ts";
import type { RelayRequest } from "../request/request.ts";
import type { RequestTerms } from "./reservation-terms.ts";
import { Reservation, type BudgetLimits, type Money } from "./reservation.ts";

/** Where a request is paid, and what computes its charge. */
export interface RequestMoney extends Money {
  readonly counter: TokenCounter;
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
  readonly money: RequestMoney;
}

/**
 * Reserves the estimate, or `exactly` if the charge is known in advance. Rejects with `insufficient_user_quota` or
 * `insufficient_token_quota`.
 */
export function reserve(
  { request, snapshot, money }: RequestContext,
  { amount, wished, isPriced }: RequestTerms,
  { limits, exactly }: { readonly limits?: BudgetLimits | undefined; readonly exactly?: Quota } = {},
): Promise<Reservation> {
  const reserved =
    exactly === undefined ? { amount, wished, isCharged: isPriced } : { amount: exactly, isCharged: exactly > 0 };
  return Reservation.open(request, reserved, { money, snapshot, limits });
}
