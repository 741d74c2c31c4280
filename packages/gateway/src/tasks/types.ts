import type { IncomingMessage, ServerResponse } from "node:http";
import type { Ledger } from "../billing/ledger/ledger.ts";
import type { JsonObject } from "../dialects/core/types.ts";
import type { Authenticator, Caller } from "../identity/authentication/caller.ts";
import type { Clock } from "../lib/clock.ts";
import type { GuardedFetcher } from "../lib/net/guarded-fetch.ts";
import type { Logger } from "../observability/log.ts";
import type { Tracing } from "../observability/tracing/call-span.ts";
import type { AdmissionDeps } from "../relay/admission/admission-controller.ts";
import type { CallProgress } from "../relay/request/call-progress.ts";
import type { CallTags } from "../relay/request/request.ts";
import type { RunningRequests } from "../relay/reservation/running.ts";
import type { Snapshot, SnapshotStore } from "../snapshot/types.ts";
import type { Database } from "../storage/database.ts";
import type { WriteLog } from "../storage/log-rows.ts";
import type { TaskUpstream } from "./upstream.ts";

/** Everything that asynchronous tasks need from the program. */
export interface TaskDeps {
  readonly database: Database;
  readonly ledger: Ledger;
  readonly writeLog: WriteLog;
  readonly snapshots: SnapshotStore;
  readonly authenticator: Authenticator;
  readonly clock: Clock;
  readonly log: Logger;
  /** Undefined if no traces are sent. */
  readonly tracing?: Tracing | undefined;
  readonly upstream: TaskUpstream;
  readonly fetcher: GuardedFetcher;
  /** HMAC of a text in hex, for addresses that grant access by themselves. */
  readonly sign: (text: string) => string;
  /** Base URL at which clients and upstreams reach the gateway, without a trailing slash. */
  readonly publicUrl: () => string;
  /** Switches a channel off; false if it was already off. */
  readonly disable: (channelId: number, reason: string) => Promise<boolean>;
  /** Reads JSON, checked before it is parsed. */
  readonly readBody: (request: IncomingMessage) => Promise<Buffer>;
  /** Reads the fields of a form, with its files as data URLs. */
  readonly readForm: (request: IncomingMessage) => Promise<JsonObject>;
  /** Throws `sensitive_words_detected`, and the refusals of the guardrail. */
  readonly judge: (call: TaskCall, prompt: TaskPrompt) => Promise<void>;
  /** A draining process waits for submissions in progress. */
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

/** One authenticated call of a task route. */
export interface TaskCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly caller: Caller;
  /** What the call is for; undefined if its headers name nothing. */
  readonly tags?: CallTags | undefined;
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number;
  readonly progress: CallProgress;
}

/** The text that a user wrote for a task. */
export interface TaskPrompt {
  /** The protocol, such as `midjourney`. */
  readonly kind: string;
  readonly model: string;
  readonly texts: readonly string[];
}
