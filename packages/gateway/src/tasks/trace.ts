import { AppError } from "../lib/app-error.ts";
import type { AttemptStart, CallSpan, Tracing } from "../observability/tracing/call-span.ts";
import type { ChannelRecord } from "../providers/core/types.ts";
import { providerByType } from "../providers/registry.ts";
import { classifyOutcome } from "../relay/request/outcome.ts";
import type { TaskCall, TaskDeps } from "./types.ts";
import type { TaskUpstream } from "./upstream.ts";

interface Answer {
  readonly status: number;
}

/** Traces the work on a submission, with a span for each channel that is called. */
export async function traced<A extends Answer | undefined>(
  tracing: Tracing,
  { call, path }: { readonly call: TaskCall; readonly path: string },
  deps: TaskDeps,
  work: (deps: TaskDeps) => Promise<A>,
): Promise<A> {
  const { request, requestId, caller, startedAt } = call;
  const span = tracing.begin({
    requestId,
    operation: "tasks.submit",
    model: "",
    isStream: false,
    path,
    userId: caller.userId,
    tokenId: caller.tokenId,
    group: caller.group,
    startedAt,
    headers: request.headers,
  });
  try {
    const answer = await work({ ...deps, upstream: tracedUpstream(deps.upstream, span) });
    const status = answer?.status ?? 404;
    span.ended({ status, outcome: status < 400 ? "ok" : "upstream_error" });
    return answer;
  } catch (thrown) {
    const error = AppError.from(thrown);
    span.ended({ status: error.status, outcome: classifyOutcome(error), errorCode: error.code });
    throw thrown;
  }
}

function tracedUpstream(upstream: TaskUpstream, span: CallSpan): TaskUpstream {
  return async (channel, request) => {
    const { start, host } = buildAttemptFacts(channel);
    span.attemptStarted(start);
    const ended = (status: number, errorCode: string | undefined) =>
      span.attemptEnded({ status, host, upstreamRequestId: undefined, errorCode });
    try {
      const answer = await upstream(channel, { ...request, headers: span.headers() });
      ended(answer.status, answer.status < 400 ? undefined : "upstream_error");
      return answer;
    } catch (error) {
      ended(0, "upstream_unreachable");
      throw error;
    }
  };
}

function buildAttemptFacts(channel: ChannelRecord): { readonly start: AttemptStart; readonly host: string } {
  const { telemetryName, id = "", baseUrl = "" } = providerByType(channel.type) ?? {};
  const start = {
    channelId: channel.id,
    channelName: channel.name,
    keyIndex: channel.usableKeys?.[0] ?? 0,
    provider: telemetryName ?? id,
    upstreamModel: "",
  };
  return { start, host: URL.parse(channel.baseUrl || baseUrl)?.host ?? "" };
}
