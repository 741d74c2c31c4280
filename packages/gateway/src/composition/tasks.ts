import type { Core } from "./core.ts";
import type { AppStorage } from "./storage.ts";
import type { ScheduledJob } from "../jobs/schedule.ts";
import type { GuardedFetcher } from "../lib/net/guarded-fetch.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import type { Tracing } from "../observability/tracing/call-span.ts";
import type { PipelineDeps } from "../relay/pipeline/enter-model.ts";
import { judgeTaskPrompt } from "../relay/policies/guardrail/elsewhere.ts";
import { readTaskForm, readTaskJson } from "../relay/body/task-body.ts";
import type { ReadRequestDeps } from "../relay/ingress/read-request.ts";
import { createLogWriter } from "../storage/log-rows.ts";
import { createTaskHandler, type TaskHandler } from "../tasks/handler.ts";
import { ownImageUrl } from "../tasks/midjourney/view.ts";
import { pollDrawings } from "../tasks/midjourney/poll.ts";
import { pollSongs } from "../tasks/suno/store.ts";
import { pollVideos } from "../tasks/video/poll.ts";
import type { TaskCall, TaskDeps, TaskPrompt } from "../tasks/types.ts";
import { createTaskUpstream } from "../tasks/upstream.ts";

const POLL_MS = 15_000;

/** Drawings, songs and videos: their routes, their polling, and the addresses of their images. */
export interface Tasks {
  readonly handler: TaskHandler;
  readonly jobs: readonly ScheduledJob[];
  readonly background: Runnable;
}

export interface TaskPartsDeps {
  readonly core: Core;
  readonly pipeline: PipelineDeps;
  readonly reading: ReadRequestDeps;
  readonly fetcher: GuardedFetcher;
  /** Undefined if no traces are sent. */
  readonly tracing: Tracing | undefined;
  readonly disable: (channelId: number, reason: string) => Promise<boolean>;
}

export function createTasks({ core, pipeline, reading, disable, fetcher, tracing }: TaskPartsDeps): Tasks {
  const { storage } = core;
  const deps: TaskDeps = {
    ...core,
    database: storage.database,
    writeLog: createLogWriter(storage.isLogSeparate),
    authenticator: reading.authenticator,
    upstream: createTaskUpstream(pipeline.upstream),
    fetcher,
    tracing,
    sign: storage.vault.hashKey,
    publicUrl: pipeline.upstream.publicUrl,
    disable,
    readBody: (request) => readTaskJson(request, reading.bodyLimits),
    readForm: (request) => readTaskForm(request, reading.bodyLimits),
    judge: (call, prompt) => judgeTask(call, prompt, pipeline),
    running: pipeline.running,
    admission: pipeline.policy.admission,
    random: Math.random,
  };
  const job = (name: string, poll: typeof pollDrawings): ScheduledJob => ({
    name,
    isLeaderOnly: true,
    everyMs: POLL_MS,
    run: (signal) => poll(deps, signal),
  });
  return {
    handler: createTaskHandler(deps),
    jobs: [job("drawing-poll", pollDrawings), job("song-poll", pollSongs), job("video-poll", pollVideos)],
    background: { name: "guarded fetcher", start() {}, stop: () => fetcher.close() },
  };
}

function judgeTask(call: TaskCall, { kind, model, texts }: TaskPrompt, pipeline: PipelineDeps): Promise<void> {
  const { requestId, caller, progress } = call;
  pipeline.policy.checkWords(() => texts, requestId);
  const spec = { operation: "task", dialect: kind, model, stream: false };
  const deps = { snapshot: pipeline.snapshots.current(), guardrail: pipeline.policy.responses.guardrail };
  return judgeTaskPrompt({ id: requestId, caller, spec, progress }, texts, deps);
}

/** Returns an address of a drawing that needs no sign-in. */
export function signedImageUrl({
  storage,
}: {
  readonly storage: Pick<AppStorage, "vault">;
}): (address: string, id: string) => string {
  return (address, id) => ownImageUrl(address, id, storage.vault.hashKey);
}
