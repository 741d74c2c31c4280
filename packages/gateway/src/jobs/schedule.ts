import type { Ledger } from "../billing/ledger/ledger.ts";
import { repeat } from "../lib/async/repeat.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import { seconds, type Clock } from "../lib/clock.ts";
import type { Logger } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { RawTransaction } from "../storage/engines/raw.ts";
import { LeadershipLost, type Elector } from "./leader.ts";

export interface ScheduledJob {
  readonly name: string;
  readonly everyMs: number;
  /** If true, the job runs on one replica only; otherwise it is safe to run on several at once. */
  readonly isLeaderOnly: boolean;
  /**
   * Idempotent; `signal` is aborted when the process stops or no longer leads. Long jobs call `confirm` between steps:
   * it throws when another replica leads, which a process that was paused may not know yet. With a transaction, no other
   * replica can lead before its end.
   */
  readonly run: (signal: AbortSignal, confirm: (tx?: RawTransaction) => Promise<void>) => Promise<unknown>;
}

export interface ScheduleDeps {
  readonly jobs: readonly ScheduledJob[];
  readonly elector: Pick<Elector, "isLeader" | "signal" | "confirm">;
  /** The database in which the elector's term is confirmed. */
  readonly raw: RawTransaction;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "jobSucceeded">;
}

/** Runs every job at its interval; a failure is logged and does not prevent the next run. */
export function createSchedule({ jobs, elector, raw, clock, log, metrics }: ScheduleDeps): Runnable {
  const stopping = new AbortController();
  const runOnce = async ({ name, isLeaderOnly, run }: ScheduledJob) => {
    if (isLeaderOnly && !elector.isLeader) return;
    const signal = isLeaderOnly ? AbortSignal.any([stopping.signal, elector.signal]) : stopping.signal;
    const confirm = async (tx: RawTransaction = raw) => {
      signal.throwIfAborted();
      if (isLeaderOnly) await elector.confirm(tx);
    };
    try {
      await confirm();
      await run(signal, confirm);
      metrics.jobSucceeded(name, seconds(clock));
    } catch (error) {
      if (error instanceof LeadershipLost) log.info("job stopped: another replica leads", { job: name });
      else if (!signal.aborted) log.error("job failed", { job: name, error });
    }
  };
  const runners = jobs.map((job) =>
    repeat({
      name: job.name,
      everyMs: job.everyMs,
      work: () => runOnce(job),
      onError: (error) => log.error("job failed", { job: job.name, error }),
    }),
  );
  return {
    name: "schedule",
    async start() {
      for (const runner of runners) await runner.start();
    },
    async stop() {
      stopping.abort();
      await Promise.all(runners.map(async (runner) => runner.stop()));
    },
  };
}

/** Runs at most once per interval, which may change while the job is scheduled. */
export function paced(clock: Clock, minutes: () => number, run: ScheduledJob["run"]): ScheduledJob["run"] {
  let next = 0;
  return async (signal, confirm) => {
    const now = clock.now();
    if (now < next) return;
    await run(signal, confirm);
    next = now + minutes() * 60_000;
  };
}

/** Settles reservations of dead processes. */
export function reaperJob(ledger: Ledger): ScheduledJob {
  return { name: "ledger-reaper", everyMs: 5_000, isLeaderOnly: false, run: () => ledger.reap() };
}
