import type { AttemptResult } from "../upstream/attempt-result.ts";
import type { Served } from "./log-row.ts";
import type { ReservationSession } from "./reservation-session.ts";

/** The result of a request, for metrics and the log line. */
export interface RelayReport {
  readonly result: AttemptResult;
  readonly tried: readonly Served[];
  readonly session: Pick<ReservationSession, "charged">;
}
