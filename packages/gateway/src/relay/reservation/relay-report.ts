import type { AttemptResult } from "../upstream/attempt-result.ts";
import type { RelayRequest } from "../request/request.ts";
import type { Served } from "./log-row.ts";
import type { ReservationSession } from "./reservation-session.ts";

/** The result of a request, for metrics and the log line. */
export interface RelayReport {
  /** As it names the model that served. */
  readonly request: RelayRequest;
  readonly result: AttemptResult;
  readonly tried: readonly Served[];
  readonly session: Pick<ReservationSession, "charged">;
}
