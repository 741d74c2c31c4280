import type { Ledger } from "../billing/ledger.ts";
import { repeat } from "../lib/repeat.ts";
import type { Runnable } from "../lib/runnable.ts";
import { seconds, type Clock } from "../lib/clock.ts";
import type { Logger } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";

export interface ScheduledJob {
  readonly name: string;
  readonly everyMs: number;
  /** Idempotent; safe to run on several replicas at once. */
  readonly run: (signal: AbortSignal) => Promise<unknown>;
}

export interface ScheduleDeps {
  readonly jobs: readonly ScheduledJob[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "jobSucceeded">;
}

/** Runs every job at its pace; a failure is logged and the next run comes all the same. */
export function createSchedule({ jobs, clock, log, metrics }: ScheduleDeps): Runnable {
  const stopping = new AbortController();
  const runners = jobs.map(({ name, everyMs, run }) =>
    repeat({
      name,
      everyMs,
      async work() {
        await run(stopping.signal);
        metrics.jobSucceeded(name, seconds(clock));
      },
      onError: (error) => {
        if (!stopping.signal.aborted) log.error("job failed", { job: name, error });
      },
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

/** Settles what a process that died left open. */
export function reaperJob(ledger: Ledger): ScheduledJob {
  return { name: "ledger-reaper", everyMs: 5_000, run: () => ledger.reap() };
}
