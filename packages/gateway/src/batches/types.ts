import type { IncomingMessage, ServerResponse } from "node:http";
import type { Budgets } from "../billing/budgets/budgets.ts";
import type { Ledger } from "../billing/ledger/ledger.ts";
import type { TokenCounter } from "../billing/tokenizer/token-counter.ts";
import type { Authenticator, Caller } from "../identity/authentication/caller.ts";
import type { Clock } from "../lib/clock.ts";
import type { BatchMetrics } from "../observability/batch-metrics.ts";
import type { Logger } from "../observability/log.ts";
import type { CallLimit } from "../relay/admission/call-limit.ts";
import type { ObjectLibrary } from "../objects/library.ts";
import type { BodyLimits } from "../relay/body/read-body.ts";
import type { CheckWords } from "../relay/admission/blocked-words.ts";
import type { Guardrail } from "../relay/policies/guardrail/guardrail.ts";
import type { ResponseOwners } from "../relay/stateful/owners.ts";
import type { DeriveId } from "../relay/tenancy/derive-id.ts";
import type { SnapshotStore } from "../snapshot/types.ts";
import type { Database } from "../storage/database.ts";
import type { BatchUpstream } from "./upstream.ts";

export type { BatchRow } from "./row.ts";

/** Everything that batches need from the program. */
export interface BatchDeps {
  readonly database: Database;
  readonly ledger: Ledger;
  readonly budgets: Budgets;
  readonly counter: Pick<TokenCounter, "count">;
  readonly snapshots: SnapshotStore;
  readonly authenticator: Authenticator;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: BatchMetrics;
  readonly upstream: BatchUpstream;
  readonly calls: CallLimit;
  readonly checkWords: CheckWords;
  readonly guardrail: Guardrail;
  readonly owners: Pick<ResponseOwners, "findAll">;
  readonly deriveId: DeriveId;
  readonly bodyLimits: BodyLimits;
  /** The files of users at upstreams. */
  readonly library: ObjectLibrary;
  /** The hash by which upstream keys are remembered. */
  readonly hashKey: (key: string) => string;
  /** The address that the operator has configured for clients, without a trailing slash. */
  readonly publicUrl: () => string | undefined;
  /** 0 <= x < 1. */
  readonly random: () => number;
}

/** One authenticated call of a route of batches. */
export interface BatchCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly caller: Caller;
  readonly ip: string;
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number;
}
