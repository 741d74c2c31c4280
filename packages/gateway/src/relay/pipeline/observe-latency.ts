import { listedName } from "../../billing/pricing/listed-name.ts";
import type { RelayRequest } from "../request/request.ts";
import type { ReservationSession } from "../reservation/reservation-session.ts";
import type { SelectionDeps } from "../selection/types.ts";
import type { AttemptResult } from "../upstream/attempt-result.ts";
import type { Attempt } from "./attempt.ts";

interface Served {
  readonly result: AttemptResult;
  readonly session: Pick<ReservationSession, "charged">;
  readonly attempt: Attempt | undefined;
}

/**
 * Adds a served call to the latency of its channel: the time to the first content of a stream, or the time of a whole
 * answer by its output tokens, since a long answer takes long everywhere. Failures add nothing: a channel that refuses
 * fast is not a fast channel.
 */
export function observeLatency(
  { spec }: RelayRequest,
  { result, session: { charged }, attempt }: Served,
  { selection: { latencies } }: { readonly selection: SelectionDeps },
): void {
  if (!attempt || !latencies || result.kind !== "delivered" || result.reason !== "stop") return;
  const { channel } = attempt.target;
  const model = listedName(spec.model);
  if (spec.stream) {
    const at = charged?.completion.firstContentAt;
    if (at !== undefined) latencies.observe(channel.id, model, "stream", at - attempt.startedAt);
  } else {
    const tokens = Math.max(1, charged?.usage.output ?? 1);
    latencies.observe(channel.id, model, "whole", (performance.now() - attempt.startedAt) / tokens);
  }
}
