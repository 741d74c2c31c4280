import { findReasonText, type TranslateFailure } from "../../shared/failures/reasons.ts";
import type { LogOther } from "./other.ts";

/** Returns why the answer of a charged call is incomplete; undefined if it is complete. */
export function describeCut({ end_reason: reason }: LogOther, say: TranslateFailure): string | undefined {
  return reason === undefined || reason === "stop" ? undefined : (findReasonText(reason, say) ?? reason);
}
