import { AppError } from "../../lib/app-error.ts";
import type { Quota } from "../../billing/money/quota.ts";
import type { BuiltCall } from "../conversion/build-call.ts";
import type { Completion } from "../response/sink.ts";
import type { PaidAttempt } from "./log-row.ts";
import type { Bill, Reservation } from "./reservation.ts";
import type { RequestTerms } from "./reservation-terms.ts";

/** An answer that is charged, with the attempts that led to it. */
export interface Delivered {
  readonly completion: Completion;
  readonly built: BuiltCall | undefined;
  readonly attempt: PaidAttempt;
  readonly tried: readonly PaidAttempt[];
}

/** The charge that would be due if the request ended now, and its output tokens. */
export interface Seen {
  readonly bill: Bill;
  readonly output: number;
}

/**
 * Raises a reservation to what another model may cost; throws `insufficient_user_quota` if nothing covers that. A call
 * with a price needs a balance even if its estimate is 0.
 */
export async function raiseForModel(
  reservation: Reservation,
  { isPriced, wished, amount }: RequestTerms,
): Promise<void> {
  if (!isPriced) return;
  const wanted = [wished, amount].filter((one) => one !== undefined).map((one) => Math.max(1, one) as Quota);
  for (const one of wanted) {
    if (one <= reservation.amount || (await reservation.raiseBalance(one))) return;
  }
  throw new AppError("insufficient_user_quota", { values: { need: wanted.at(-1) ?? 0, have: reservation.amount } });
}
