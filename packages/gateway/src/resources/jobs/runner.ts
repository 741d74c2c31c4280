import { randomUUID } from "node:crypto";
import { JOB_STATUS } from "@fairway/wire";
import type { Runnable } from "../../lib/async/runnable.ts";
import type { Logger } from "../../observability/log.ts";
import { LEASE_MS, NO_PROGRESS, type JobStore, type Progress } from "./store.ts";

/** How a job reports progress and learns that it should stop. */
export interface JobControl {
  /** Aborted when the process stops, or when another process now runs the job. */
  readonly signal: AbortSignal;
  /** Called before a step writes. Throws, and so ends the job, if the process stalled and has lost it. */
  confirm(): Promise<void>;
  /** Sets the number of steps, as soon as it is known. */
  total(steps: number): void;
  /** Records that one step is done. */
  step(isOk: boolean): void;
  /** Records that so many steps are done, for work that counts them itself. */
  reached(steps: number): void;
  /** Sets the text of the finished job. */
  message(text: string): void;
}

export interface JobSpec {
  /** Only one job with a name runs at a time in the whole cluster. */
  readonly name: string;
  /** 0 = the schedule. */
  readonly startedBy: number;
  readonly run: (control: JobControl) => Promise<void>;
}

/** A job that was started; `finished` never rejects. */
export interface StartedJob {
  readonly id: number;
  readonly finished: Promise<void>;
}

export interface JobRunner extends Runnable {
  /** Starts the job in the background; returns undefined if a job with that name is already running. */
  run(spec: JobSpec): Promise<StartedJob | undefined>;
}

const SAVE_EVERY_MS = 500;
const RENEW_EVERY_MS = LEASE_MS / 6;

export function createJobRunner(store: JobStore, log: Logger): JobRunner {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  return {
    name: "jobs",
    start() {},
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
    async run(spec) {
      const lease = { name: `job:${spec.name}`, holder: randomUUID() };
      if (stopping.signal.aborted || !(await store.take(lease.name, lease.holder))) return undefined;
      const id = await store.create(spec.name, spec.startedBy);
      const finished = perform({ store, log, id, spec, lease, signal: stopping.signal }).finally(() =>
        running.delete(finished),
      );
      running.add(finished);
      return { id, finished };
    },
  };
}

interface Performance {
  readonly store: JobStore;
  readonly log: Logger;
  readonly id: number;
  readonly spec: JobSpec;
  readonly lease: { readonly name: string; readonly holder: string };
  readonly signal: AbortSignal;
}

async function perform({ store, log, id, spec, lease, signal }: Performance): Promise<void> {
  let progress: Progress = NO_PROGRESS;
  const lost = new AbortController();
  const ended = AbortSignal.any([signal, lost.signal]);
  const renew = async () => {
    if (!(await store.renew(lease.name, lease.holder))) lost.abort(new Error("another process has taken the job over"));
  };
  const guard = (work: Promise<void>) =>
    void work.catch((error: unknown) => log.warn("job progress not saved", { job: spec.name, error }));
  const saving = setInterval(() => guard(store.save(id, progress)), SAVE_EVERY_MS);
  const renewing = setInterval(() => guard(renew()), RENEW_EVERY_MS);
  const control: JobControl = {
    signal: ended,
    async confirm() {
      ended.throwIfAborted();
      await renew();
      ended.throwIfAborted();
    },
    total: (total) => void (progress = { ...progress, total }),
    step: (isOk) =>
      void (progress = { ...progress, done: progress.done + 1, failed: progress.failed + (isOk ? 0 : 1) }),
    reached: (done) => void (progress = { ...progress, done }),
    message: (message) => void (progress = { ...progress, message }),
  };
  let status: (typeof JOB_STATUS)[keyof typeof JOB_STATUS] = JOB_STATUS.done;
  let reason = "";
  try {
    await spec.run(control);
    if (ended.aborted) status = JOB_STATUS.interrupted;
  } catch (error) {
    status = ended.aborted ? JOB_STATUS.interrupted : JOB_STATUS.failed;
    reason = error instanceof Error ? error.message : String(error);
    if (!ended.aborted) log.error("job failed", { job: spec.name, error });
  } finally {
    clearInterval(saving);
    clearInterval(renewing);
  }
  if (lost.signal.aborted) log.warn("job stopped, another process has taken it over", { job: spec.name });
  try {
    if (status === JOB_STATUS.failed) await store.fail(id, progress, { name: spec.name, reason });
    else await store.save(id, progress, status);
    await store.release(lease.name, lease.holder);
  } catch (error) {
    log.error("job not closed", { job: spec.name, error });
  }
}
