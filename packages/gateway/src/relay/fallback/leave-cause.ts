import type { FallbackCause } from "@fairway/wire";
import { CONTEXT_OVERFLOW } from "../../dialects/core/context-overflow.ts";
import type { AppError } from "../../lib/app-error.ts";
import type { Failure } from "../upstream/failure.ts";
import type { CallProgress } from "../request/call-progress.ts";
import type { RelayRequest } from "../request/request.ts";

/** Why a request may leave its model. */
export interface LeaveCause {
  readonly on: FallbackCause;
  /** As clients and logs read it: the class of the upstream's failure, or the gateway's own reason. */
  readonly reason: string;
}

/** Failures without an answer of the upstream, by the code of their error. */
const REASONS: Readonly<Record<string, string>> = {
  upstream_timeout: "timeout",
  upstream_connect_failed: "connect",
  upstream_invalid_response: "unreadable",
  upstream_invalid_stream: "unreadable",
  upstream_stream_interrupted: "unreadable",
};

/** Returns the cause of the last failed attempt; undefined if another model would not help. */
export function findFailureCause(failure: Failure | undefined, request: RelayRequest): LeaveCause | undefined {
  if (request.progress.stopped) return undefined;
  if (!failure) return { on: "error", reason: "no_available_channel" };
  const { error, class: found } = failure;
  if (error.origin !== "upstream") return findRefusalCause(error, request.progress);
  if (error.code === CONTEXT_OVERFLOW) return { on: "context", reason: "context" };
  if (found === "refusal") return { on: "content", reason: "content" };
  if (found === "content_filter") return { on: "content", reason: found };
  if (found === "bad_request") return undefined;
  return { on: "error", reason: found ?? REASONS[error.code ?? ""] ?? "unreadable" };
}

/** What the progress of a call says about its refusal. */
type Refused = Pick<CallProgress, "usedUp" | "fullLimit">;

/** Returns the cause of a refusal before any upstream was called; undefined if another model would be refused too. */
export function findRefusalCause(error: AppError, { usedUp, fullLimit }: Refused): LeaveCause | undefined {
  switch (error.code) {
    case "no_available_channel":
    case "upstream_saturated":
      return { on: "error", reason: error.code };
    case "rate_limit_exceeded":
    case "concurrency_limit_exceeded":
      if (fullLimit === "channel") return { on: "error", reason: "upstream_saturated" };
      return fullLimit === "model" ? { on: "limit", reason: "limit" } : undefined;
    case "budget_exceeded":
      return isOfModel(usedUp) ? { on: "budget", reason: "budget" } : undefined;
    case "insufficient_user_quota":
    case "insufficient_team_quota":
    case "insufficient_token_quota":
      return { on: "budget", reason: "budget" };
    default:
      return undefined;
  }
}

/** True for a budget that does not count the calls of another model. */
function isOfModel(usedUp: Refused["usedUp"]): boolean {
  if (typeof usedUp !== "object") return false;
  return usedUp.scope === "model" || usedUp.scope === "channel" || usedUp.filter_model !== "";
}
