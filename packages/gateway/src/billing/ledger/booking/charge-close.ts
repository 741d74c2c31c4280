import type { Outcome } from "./charge-booking.ts";
import type { Charge } from "../charge.ts";
import type { Settlement } from "../ledger.ts";
import type { BudgetClose } from "../../budgets/sql/sheet.ts";

export interface ChargeKind {
  /** The reaper charged the request, which may still settle. */
  readonly isReaped?: boolean;
  readonly isCorrection?: boolean;
}

/** Returns how a booked charge closes its budgets; undefined if it has none. */
export function buildBudgetClose(settlement: Settlement, kind: ChargeKind = {}): BudgetClose | undefined {
  const { hold, quota, at, budgets = [], isRefundable = false } = settlement;
  const { isReaped = false, isCorrection = false } = kind;
  if (budgets.length === 0 && !isCorrection) return undefined;
  return {
    requestId: hold.requestId,
    ids: budgets,
    charged: quota,
    at,
    isCorrection,
    isRemembered: isRefundable || isReaped,
  };
}

/** Returns how charges close their budgets, once it is decided which of them are booked. */
export function buildBudgetCloses(charges: readonly Charge[], outcomes: readonly Outcome[]): BudgetClose[] {
  return charges.flatMap((charge, at) => {
    const { settlement, how } = charge;
    const { hold, budgets = [] } = settlement;
    const outcome = outcomes[at]?.kind;
    if (outcome === undefined || outcome === "later") return [];
    const isBooked = outcome !== "known" && how !== "lapsed";
    const close = isBooked
      ? buildBudgetClose(settlement, { isReaped: how === "reaped", isCorrection: outcome === "corrected" })
      : undefined;
    if (close) return [close];
    if (budgets.length === 0 && !how) return [];
    return [{ requestId: hold.requestId, ids: budgets, charged: undefined, at: settlement.at }];
  });
}
