import { findReasonText, type TranslateFailure } from "../../shared/failures/reasons.ts";
import type { LogOther } from "./other.ts";

/** Why the answer of a charged call is not whole; undefined if it is. */
export function describeCut({ end_reason: reason }: LogOther, say: TranslateFailure): string | undefined {
  return reason === undefined || reason === "stop" ? undefined : (findReasonText(reason, say) ?? reason);
}
