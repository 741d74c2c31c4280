import type { AttemptEnd, AttemptStart, CallStart } from "../../observability/tracing/call-span.ts";
import type { RouteTarget } from "../selection/types.ts";
import type { TracedAttempt } from "../request/traced-route.ts";
import type { AttemptResult } from "../upstream/attempt-result.ts";
import type { RelayRequest } from "../request/request.ts";

/** Returns the attributes of a call that a trace records; never its text. */
export function buildCallStart(request: RelayRequest): CallStart {
  const { id, spec, caller, url, startedAt, clientHeaders = {} } = request;
  return {
    requestId: id,
    operation: spec.operation,
    model: spec.model,
    isStream: spec.stream,
    path: url.split("?", 1)[0] ?? "",
    userId: caller.userId,
    tokenId: caller.tokenId,
    group: caller.group,
    startedAt,
    headers: clientHeaders,
  };
}

/** Returns what the span of an attempt shows from its start. */
export function buildAttemptStart({ target }: { readonly target: RouteTarget }): AttemptStart {
  const { channel, keyIndex, plan, upstreamModel } = target;
  const provider = plan.provider.telemetryName ?? plan.provider.id;
  return { channelId: channel.id, channelName: channel.name, keyIndex, provider, upstreamModel };
}

/** Returns what the span of an attempt shows at its end. */
export function buildAttemptEnd(
  { status, upstreamHost, upstreamRequestId }: Pick<TracedAttempt, "status" | "upstreamHost" | "upstreamRequestId">,
  result: AttemptResult,
): AttemptEnd {
  const errorCode =
    result.kind === "failed" ? (result.failure.error.code ?? result.failure.outcome) : findErrorCode(result);
  return { status, host: upstreamHost, upstreamRequestId, errorCode };
}

/** A stream that broke off counts as delivered as far as it came. */
function findErrorCode(result: Exclude<AttemptResult, { kind: "failed" }>): string | undefined {
  if (result.kind === "disconnected") return "client_abort";
  return result.reason === "stop" ? undefined : result.reason;
}
