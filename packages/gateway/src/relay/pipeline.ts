import type { ServerResponse } from "node:http";
import { AppError } from "../lib/app-error.ts";
import type { SnapshotStore } from "../snapshot/types.ts";
import { Account, type AccountDeps } from "./account.ts";
import { admitModel, servingGroups } from "./admit.ts";
import { Attempt, type AttemptDeps } from "./attempt.ts";
import type { ChannelGuard } from "./auto-disable.ts";
import { Delivery, type DeliveryTicker } from "./delivery.ts";
import { STREAM_HEAD } from "./heads.ts";
import type { Served } from "./log-row.ts";
import { createRetries, type RetrySettings } from "./retry.ts";
import type { RunningRequest, RunningRequests } from "./running.ts";
import { createSelection, pinnedChoice, type Choice, type Selection, type SelectionDeps } from "./select.ts";
import type { AttemptResult } from "./sink.ts";
import type { RelayRequest } from "./types.ts";

export interface PipelineDeps extends AccountDeps, AttemptDeps {
  readonly snapshots: SnapshotStore;
  readonly selection: SelectionDeps;
  readonly ticker: DeliveryTicker;
  readonly running: RunningRequests;
  readonly guard: ChannelGuard;
  readonly retry: RetrySettings;
}

/** What happened to a request, for metrics and the log line. */
export interface RelayReport {
  readonly result: AttemptResult;
  readonly tried: readonly Served[];
  readonly account: Pick<Account, "charged">;
}

/**
 * One relayed request from a parsed body to its charge. Every failure before the first byte leaves as an AppError
 * with the reservation given back; after it, the attempt itself has told the client.
 */
export async function runPipeline(
  request: RelayRequest,
  response: ServerResponse,
  deps: PipelineDeps,
): Promise<RelayReport> {
  const snapshot = deps.snapshots.current();
  admitModel(request.caller, request.ask);
  const groups = servingGroups(request.caller, snapshot);
  const selection = selectionFor(request, groups, deps);
  const first = selection.next();
  const account = await Account.open({ request, snapshot, groups, deps });
  const delivery = new Delivery(response, deps.ticker);
  const tried: Attempt[] = [];
  const handle = runningOf(request, account, tried);
  deps.running.add(handle);
  try {
    if (request.ask.stream) keepAlive(delivery, request);
    const result = await attemptUntilDelivered(request, first, selection, { delivery, account, tried, deps });
    if (result.kind === "gone") await account.release();
    return { result, tried, account };
  } catch (error) {
    await account.release();
    throw error;
  } finally {
    deps.running.remove(handle);
  }
}

interface Course {
  readonly delivery: Delivery;
  readonly account: Account;
  readonly tried: Attempt[];
  readonly deps: PipelineDeps;
}

/** Tries channels until one delivers; throws the last failure when none is left. */
async function attemptUntilDelivered(
  request: RelayRequest,
  first: Choice | undefined,
  selection: Selection,
  course: Course,
): Promise<AttemptResult> {
  const { account, delivery, deps, tried } = course;
  const retries = createRetries(request, deps.snapshots.current(), selection, deps.retry);
  for (let choice = first; choice; choice = retries.next()) {
    const attempt = new Attempt(
      request,
      choice,
      {
        delivery,
        settle: (ending, built, current) => account.settle(ending, built, current, tried),
        progress: (outputBound, current) => account.progress(outputBound, current, tried),
      },
      deps,
    );
    tried.push(attempt);
    account.onExhausted = () => attempt.stop(new AppError("insufficient_quota"), "quota_exhausted");
    const result = await attempt.start();
    deps.guard.observe(attempt, result);
    if (result.kind !== "failed") return result;
    retries.failed(choice, result.failure);
  }
  throw retries.lastError();
}

export function selectionFor(request: RelayRequest, groups: readonly string[], deps: PipelineDeps): Selection {
  const snapshot = deps.snapshots.current();
  const { pinnedChannel } = request.caller;
  if (pinnedChannel === undefined) return createSelection(snapshot, groups, request, deps.selection);
  let choice: Choice | undefined = pinnedChoice(
    snapshot,
    { channelId: pinnedChannel, group: groups[0] ?? "default" },
    request,
    deps.selection,
  );
  return {
    next: () => {
      const once = choice;
      choice = undefined;
      return once;
    },
    failed: () => undefined,
    restsForMs: undefined,
  };
}

function keepAlive(delivery: Delivery, request: RelayRequest): void {
  const form = request.dialect.streamForm?.(request.url);
  delivery.form = form;
  delivery.streamHead = form ? { ...STREAM_HEAD, "content-type": form.contentType } : STREAM_HEAD;
  delivery.heartbeat = form?.heartbeat ?? request.dialect.heartbeat;
  delivery.watch();
}

function runningOf(request: RelayRequest, account: Account, tried: readonly Attempt[]): RunningRequest {
  return {
    isStream: request.ask.stream,
    renew: () => account.renew(tried.at(-1), tried),
    stop: (error) => tried.at(-1)?.stop(error, "server_shutdown"),
  };
}
