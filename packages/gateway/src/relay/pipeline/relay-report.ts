import type { AttemptResult } from "../response/sink.ts";
import type { Served } from "./log-row.ts";
import type { ReservationSession } from "./reservation/reservation-session.ts";

/** What happened to a request, for metrics and the log line. */
export interface RelayReport {
  readonly result: AttemptResult;
  readonly tried: readonly Served[];
  readonly session: Pick<ReservationSession, "charged">;
}
