import type { Caller } from "../../../identity/authentication/caller.ts";
import { AppError } from "../../../lib/app-error.ts";
import type { Logger } from "../../../observability/log.ts";
import type { Metrics } from "../../../observability/metrics.ts";
import type { CallProgress } from "../../request/call-progress.ts";
import type { GuardrailPolicy } from "../../../snapshot/guardrail-policy.ts";
import type { Question, Verdict, Webhook } from "./webhook.ts";

export interface GuardrailDeps {
  readonly webhook: Webhook;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "judged">;
  /** Called when verdicts are missing in a row, and again only after one came. */
  onFailing(why: string, policy: GuardrailPolicy): void;
}

/** A text that is to be judged. */
export interface Judged extends Pick<Question, "phase" | "text"> {
  readonly window?: number;
  readonly context?: string;
  /** Aborted when the client leaves and the verdict is no longer needed. */
  readonly signal?: AbortSignal;
}

/** The origin of a judged text: a relayed request or a task. */
export interface GuardedRequest {
  readonly id: string;
  readonly caller: Caller;
  readonly spec: {
    readonly operation: string;
    readonly dialect: string;
    readonly model: string;
    readonly stream: boolean;
  };
  readonly progress: Pick<CallProgress, "judged">;
}

/** Undefined = the text may pass; otherwise the client's error. */
export type Judge = (judged: Judged) => Promise<AppError | undefined>;

/** At most one line per ten seconds while the webhook fails; the metric counts each call. */
const LOG_EVERY_MS = 10_000;
/** So many verdicts in a row are not missing because of one slow answer. */
const FAILING_AFTER = 3;

/** Asks the webhook about the texts of a request, and interprets its verdicts. */
export function createGuardrail({ webhook, log, metrics, onFailing }: GuardrailDeps) {
  let failures = 0;
  let inARow = 0;
  let announcedAt = -Infinity;

  const failed = (why: string, { id }: GuardedRequest, policy: GuardrailPolicy) => {
    failures += 1;
    inARow += 1;
    if (inARow === FAILING_AFTER) onFailing(why, policy);
    if (performance.now() - announcedAt < LOG_EVERY_MS) return;
    log.warn("the guardrail gave no verdict", { request_id: id, why, failures, on_failure: policy.onFailure });
    announcedAt = performance.now();
    failures = 0;
  };

  const outcome = (verdict: Verdict, judged: Judged, request: GuardedRequest, policy: GuardrailPolicy) => {
    const { phase } = judged;
    if (verdict.action !== "failed") inARow = 0;
    if (verdict.action === "allow") return undefined;
    if (verdict.action === "block") {
      log.info("the guardrail refused a text", { request_id: request.id, phase, reason: verdict.reason });
      request.progress.judged({ phase, verdict: "block", reason: verdict.reason });
      return new AppError(phase === "prompt" ? "prompt_blocked" : "answer_blocked");
    }
    failed(verdict.why, request, policy);
    request.progress.judged({ phase, verdict: "failed", reason: verdict.why });
    return policy.onFailure === "allow" ? undefined : new AppError("guardrail_unavailable");
  };

  /** Judges texts of one request. */
  return (policy: GuardrailPolicy, request: GuardedRequest): Judge =>
    async (judged) => {
      if (judged.text === "") return undefined;
      const startedAt = performance.now();
      const verdict = await webhook.ask(policy, buildQuestion(request, judged), judged.signal);
      if (judged.signal?.aborted) return undefined;
      const seconds = (performance.now() - startedAt) / 1000;
      metrics.judged({ phase: judged.phase, verdict: verdict.action, seconds });
      return outcome(verdict, judged, request, policy);
    };
}

export type Guardrail = ReturnType<typeof createGuardrail>;

function buildQuestion(request: GuardedRequest, { phase, text, window = 0, context = "" }: Judged): Question {
  const { id, spec, caller } = request;
  return {
    version: 1,
    request_id: id,
    phase,
    operation: spec.operation,
    dialect: spec.dialect,
    model: spec.model,
    group: caller.group,
    user: { id: caller.userId, name: caller.username },
    token: { id: caller.tokenId, name: caller.tokenName },
    stream: spec.stream,
    window,
    text,
    context,
  };
}
