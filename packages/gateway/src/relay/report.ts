import type { AppError } from "../lib/app-error.ts";
import type { Logger } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import { outcomeOf, type Outcome } from "./outcome.ts";
import type { RelayReport } from "./pipeline.ts";
import type { RelayRequest } from "./types.ts";

/** Tells the log and the metrics about every relayed request, once. */
export interface Reporter {
  delivered(request: RelayRequest, report: RelayReport): void;
  failed(facts: FailedRequest, error: AppError): void;
}

/** What is known of a request that ended before anything was delivered. */
export interface FailedRequest {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly ip: string;
  readonly startedAt: number;
  /** Present once the body was read. */
  readonly request: RelayRequest | undefined;
}

export interface ReporterDeps {
  readonly log: Logger;
  readonly metrics: Metrics;
}

export function createReporter({ log, metrics }: ReporterDeps): Reporter {
  return {
    delivered(request, { result, tried, account }) {
      const ms = performance.now() - request.startedAt;
      const { ask, caller } = request;
      const outcome = outcomeOfResult(result);
      const charged = account.charged;
      const last = tried.at(-1)?.choice;
      const group = last?.group ?? caller.group;
      metrics.relayed({
        operation: ask.operation,
        model: ask.model,
        group,
        stream: ask.stream,
        outcome,
        seconds: ms / 1000,
      });
      if (charged) {
        const { usage, quota, ending } = charged;
        metrics.charged({ model: ask.model, group, quota, input: usage.input, output: usage.output });
        if (ask.stream && ending.firstContentAt !== undefined)
          metrics.firstToken({
            operation: ask.operation,
            model: ask.model,
            seconds: (ending.firstContentAt - request.startedAt) / 1000,
          });
      }
      log.info("relay", {
        request_id: request.id,
        user: caller.userId,
        token: caller.tokenId,
        channels: tried.map(({ choice }) => choice.channel.id),
        group,
        model: ask.model,
        operation: ask.operation,
        stream: ask.stream,
        status: result.kind === "gone" ? 499 : 200,
        outcome,
        ms: Math.round(ms),
        frt:
          charged?.ending.firstContentAt === undefined
            ? undefined
            : Math.round(charged.ending.firstContentAt - request.startedAt),
        input: charged?.usage.input,
        output: charged?.usage.output,
        quota: charged?.quota,
        end_reason: charged?.ending.reason ?? "client_abort",
      });
    },
    failed(facts, error) {
      const { request } = facts;
      const outcome = outcomeOf(error);
      const ms = performance.now() - facts.startedAt;
      metrics.relayed({
        operation: request?.ask.operation ?? "unknown",
        model: request?.ask.model ?? "",
        group: request?.caller.group ?? "",
        stream: request?.ask.stream ?? false,
        outcome,
        seconds: ms / 1000,
      });
      const fields = {
        request_id: facts.requestId,
        user: request?.caller.userId,
        token: request?.caller.tokenId,
        method: facts.method,
        path: facts.path,
        ip: facts.ip,
        model: request?.ask.model,
        status: error.status,
        code: error.code,
        outcome,
        ms: Math.round(ms),
        cause: error.cause instanceof Error ? error.cause.message : undefined,
      };
      if (outcome === "internal") log.error("relay failed", { ...fields, error: error.cause ?? error });
      else log.info("relay refused", fields);
    },
  };
}

function outcomeOfResult(result: RelayReport["result"]): Outcome {
  if (result.kind === "gone") return "client_abort";
  if (result.kind === "failed") return result.failure.outcome;
  switch (result.reason) {
    case "stop":
      return "ok";
    case "client_abort":
      return "client_abort";
    case "idle_timeout":
      return "timeout";
    case "quota_exhausted":
      return "quota";
    case "upstream_cut":
    case "upstream_error":
    case "server_shutdown":
      return "upstream_error";
  }
}
