import { parseTags } from "@fairway/wire";
import type { AttemptEnd, AttemptStart, CallStart, ExchangeFacts } from "../../observability/tracing/call-span.ts";
import type { RouteTarget } from "../selection/types.ts";
import type { TracedAttempt } from "../request/traced-route.ts";
import type { AttemptResult } from "../upstream/attempt-result.ts";
import type { RelayRequest } from "../request/request.ts";

/** Returns the attributes of a call that a trace records; never its text. */
export function buildCallStart(request: RelayRequest): CallStart {
  const { id, spec, caller, url, startedAt, tags, clientHeaders = {} } = request;
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
    ...(tags && { tags: parseTags(tags.text), endUser: tags.endUser }),
    headers: clientHeaders,
  };
}

interface StartedAttempt {
  readonly target: RouteTarget;
  readonly request?: Pick<RelayRequest, "spec">;
}

/** Returns what the span of an attempt shows from its start. */
export function buildAttemptStart({ target, request }: StartedAttempt): AttemptStart {
  const { channel, keyIndex, plan, upstreamModel } = target;
  const provider = plan.provider.telemetryName ?? plan.provider.id;
  const isStream = request?.spec.stream;
  return { channelId: channel.id, channelName: channel.name, keyIndex, provider, upstreamModel, isStream };
}

interface EndedAttempt extends Pick<TracedAttempt, "status" | "upstreamHost" | "upstreamRequestId"> {
  readonly exchange: ExchangeFacts | undefined;
}

/** Returns what the span of an attempt shows at its end. */
export function buildAttemptEnd(
  { status, upstreamHost, upstreamRequestId, exchange }: EndedAttempt,
  result: AttemptResult,
): AttemptEnd {
  const errorCode =
    result.kind === "failed" ? (result.failure.error.code ?? result.failure.outcome) : findErrorCode(result);
  return { status, host: upstreamHost, upstreamRequestId, errorCode, exchange };
}

/** A stream that broke off counts as delivered as far as it came. */
function findErrorCode(result: Exclude<AttemptResult, { kind: "failed" }>): string | undefined {
  if (result.kind === "disconnected") return "client_abort";
  return result.reason === "stop" ? undefined : result.reason;
}
