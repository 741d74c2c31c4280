import { ACCOUNT_KIND, LOG_TYPE, type LogErrorDetail, type OptionValues } from "@fairway/wire";
import type { AppError, ErrorOwner } from "../../lib/app-error.ts";
import type { Runnable } from "../../lib/async/runnable.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { Logger } from "../../observability/log.ts";
import type { LogRowInput } from "../../storage/log-rows.ts";
import { createErrorSample } from "./error-sample.ts";
import { TRACE_MEMBER, type CallTrace } from "./call-trace.ts";
import { stopDetail } from "./stop-detail.ts";
import type { FallbackNote } from "../request/fallbacks.ts";
import { describeFallback } from "./fallback-detail.ts";
import type { CallTags } from "../request/request.ts";
import type { StopNotes } from "../request/stop-notes.ts";

/** A call that ended with an error, as the edge knows it. */
export interface FailedCall {
  readonly requestId: string;
  /** Without the query. */
  readonly path: string;
  /** Milliseconds from arrival to the error. */
  readonly ms: number;
  readonly owner: ErrorOwner;
  /** What the call is for, if it was read. */
  readonly tags?: CallTags | undefined;
  readonly model: string;
  readonly isStream: boolean;
  /** The outcome, as in the metrics. */
  readonly outcome: string;
  /** Channels that were called, in order. */
  readonly channels: readonly number[];
  /** What the guardrail and the budgets noted about the call. */
  readonly notes: StopNotes & { readonly fallback?: FallbackNote | undefined };
  /** The upstream's message, for operators. */
  readonly said?: { readonly upstream_message?: string } | undefined;
  /** Called when a row is written. */
  readonly trace: () => CallTrace | undefined;
}

export interface ErrorRows extends Runnable {
  record(call: FailedCall, error: AppError): void;
}

export interface ErrorRowsDeps {
  readonly options: () => Pick<OptionValues, "ErrorLogEnabled" | "ErrorLogPerMinute">;
  readonly insert: (rows: readonly LogRowInput[]) => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called with the number of rows that were dropped while the database was unavailable, or that it refused. */
  readonly onLost: (rows: number) => void;
}

const EVERY_MS = 1_000;
/** Rows per statement. */
const ROWS_AT_ONCE = 100;
/** Most rows that wait for the database. */
const MAX_WAITING = 5_000;
const LONGEST_CONTENT = 512;
const LONGEST_MODEL = 255;
const LONGEST_NAME = 64;
const MAX_CHANNELS = 32;

/**
 * Writes failed calls as log rows of type error: the first of each minute by token and code, then the number of the
 * rest.
 */
export function createErrorRows(deps: ErrorRowsDeps): ErrorRows {
  const queue = createQueue(deps);
  const sample = createErrorSample({ add: queue.add, onLost: deps.onLost });
  let timer: NodeJS.Timeout | undefined;
  const now = () => seconds(deps.clock);
  return {
    name: "error-rows",
    record(call, error) {
      const { ErrorLogEnabled, ErrorLogPerMinute } = deps.options();
      if (!ErrorLogEnabled) return;
      const { userId, tokenId } = call.owner;
      const name = `${userId} ${tokenId} ${error.code ?? error.status}`;
      sample.take(name, { now: now(), most: ErrorLogPerMinute, row: () => buildRow(call, error, now()) });
    },
    start() {
      timer = setInterval(() => {
        sample.turn(now());
        void queue.flush();
      }, EVERY_MS).unref();
    },
    async stop() {
      clearInterval(timer);
      sample.end(now());
      await queue.flush();
      queue.give();
    },
  };
}

/** Rows on their way to the database. */
function createQueue({ insert, log, onLost }: ErrorRowsDeps) {
  let waiting: LogRowInput[] = [];
  let writing: Promise<void> = Promise.resolve();
  const write = async () => {
    while (waiting.length > 0) {
      const rows = waiting.slice(0, ROWS_AT_ONCE);
      try {
        await insert(rows);
      } catch (error) {
        log.warn("rows of failed calls wait for the database", { rows: waiting.length, error });
        return;
      }
      waiting = waiting.slice(rows.length);
    }
  };
  return {
    add(row: LogRowInput): void {
      if (waiting.length < MAX_WAITING) waiting.push(row);
      else onLost(1);
    },
    flush: () => (writing = writing.then(write)),
    /** Gives up the waiting rows: they count as lost. */
    give(): void {
      if (waiting.length > 0) onLost(waiting.length);
      waiting = [];
    },
  };
}

/** `frt` of calls without a first token. */
const NO_FIRST_TOKEN = -1000;

function buildRow(call: FailedCall, error: AppError, now: number): LogRowInput {
  const { owner, channels } = call;
  const trace = call.trace();
  const stop = stopDetail(call.notes, error.code === "budget_exceeded");
  const detail: LogErrorDetail = {
    status_code: error.status,
    error_code: (error.code ?? "").slice(0, LONGEST_NAME),
    error_type: error.origin,
    outcome: call.outcome,
    ms: Math.round(call.ms),
    request_path: call.path,
    attempts: channels.length,
  };
  const other = {
    ...detail,
    // Compatible consoles compute with it in every row of a stream.
    frt: NO_FIRST_TOKEN,
    ...stop?.shared,
    ...(owner.keyHint !== undefined && { key: owner.keyHint }),
    ...(call.notes.fallback && { fallback: describeFallback(call.notes.fallback) }),
    ...(trace && { [TRACE_MEMBER]: trace }),
    admin_info: { use_channel: channels.slice(0, MAX_CHANNELS).map(String), ...stop?.operator, ...call.said },
  };
  return {
    user_id: owner.userId,
    created_at: now,
    type: LOG_TYPE.error,
    content: describeError(error),
    username: owner.username,
    token_name: owner.tokenName,
    model_name: call.model.slice(0, LONGEST_MODEL),
    quota: 0,
    prompt_tokens: 0,
    completion_tokens: 0,
    use_time: Math.floor(call.ms / 1000),
    is_stream: call.isStream ? 1 : 0,
    channel_id: channels.at(-1) ?? 0,
    token_id: owner.tokenId,
    group: owner.group.slice(0, LONGEST_NAME),
    ip: "",
    request_id: call.requestId,
    other: JSON.stringify(other),
    ...(call.tags && { tags: call.tags.text, end_user: call.tags.endUser }),
    ...(owner.actor !== undefined && { actor: owner.actor, account_kind: ACCOUNT_KIND.wallet }),
  };
}

/** Returns the gateway's own message; an upstream's may repeat the prompt. */
function describeError({ isQuoted, message, status }: AppError): string {
  return isQuoted ? `The upstream refused the call with status ${status}.` : message.slice(0, LONGEST_CONTENT);
}
