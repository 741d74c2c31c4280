import type { IncomingMessage, ServerResponse } from "node:http";
import type { Ledger } from "../billing/ledger/ledger.ts";
import type { JsonObject } from "../dialects/core/types.ts";
import type { Authenticator, Caller } from "../identity/authentication/caller.ts";
import type { Clock } from "../lib/clock.ts";
import type { GuardedFetcher } from "../lib/net/guarded-fetch.ts";
import type { Logger } from "../observability/log.ts";
import type { Tracing } from "../observability/tracing/call-span.ts";
import type { AdmissionDeps } from "../relay/admission/admission-controller.ts";
import type { RunningRequests } from "../relay/reservation/running.ts";
import type { Snapshot, SnapshotStore } from "../snapshot/types.ts";
import type { Database } from "../storage/database.ts";
import type { WriteLog } from "../storage/log-rows.ts";
import type { TaskUpstream } from "./upstream.ts";

/** Everything that asynchronous tasks need of the program. */
export interface TaskDeps {
  readonly database: Database;
  readonly ledger: Ledger;
  readonly writeLog: WriteLog;
  readonly snapshots: SnapshotStore;
  readonly authenticator: Authenticator;
  readonly clock: Clock;
  readonly log: Logger;
  /** Undefined where no traces are sent. */
  readonly tracing?: Tracing | undefined;
  readonly upstream: TaskUpstream;
  readonly fetcher: GuardedFetcher;
  /** HMAC of a text, hex; for addresses that carry their own right. */
  readonly sign: (text: string) => string;
  /** Under which clients and upstreams reach the gateway, without a slash at the end. */
  readonly publicUrl: () => string;
  /** Switches a channel off; false when it was off already. */
  readonly disable: (channelId: number, reason: string) => Promise<boolean>;
  /** JSON, checked before it is parsed. */
  readonly readBody: (request: IncomingMessage) => Promise<Buffer>;
  /** The fields of a form, its files as data URLs. */
  readonly readForm: (request: IncomingMessage) => Promise<JsonObject>;
  /** Throws `sensitive_words_detected`, and what the guardrail refuses. */
  readonly judge: (call: TaskCall, prompt: TaskPrompt) => Promise<void>;
  /** A process that drains waits for submissions under way. */
  readonly running: Pick<RunningRequests, "add" | "remove">;
  /** Limits and budgets. */
  readonly admission: AdmissionDeps;
  /** 0 <= x < 1. */
  readonly random: () => number;
}

/** The dependencies of polling tasks. */
export interface PollDeps extends Pick<TaskDeps, "database" | "ledger" | "writeLog" | "clock" | "log" | "upstream"> {
  readonly snapshots: { current(): Pick<Snapshot, "channels"> };
}

/** One call of a task route, signed in. */
export interface TaskCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly caller: Caller;
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number;
  /** Set once the limits of the caller have been asked. */
  isCounted?: boolean;
}

/** The text that a user wrote for a task. */
export interface TaskPrompt {
  /** The protocol, such as `midjourney`. */
  readonly kind: string;
  readonly model: string;
  readonly texts: readonly string[];
}
