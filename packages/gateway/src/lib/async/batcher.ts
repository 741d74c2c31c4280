/** Collects jobs that arrive one by one and runs them in batches, one batch at a time, in order of arrival. */
export interface Batcher<Job, Result> {
  /** Rejects with the error of the batch that contained the job, or of the job itself with `isolatesFailures`. */
  add(job: Job): Promise<Result>;
  /** Resolves when no job is waiting or running. */
  idle(): Promise<void>;
}

export interface BatcherSettings<Job, Result> {
  readonly maxJobs: number;
  /**
   * When the first job starts: `now` runs it alone and collects the next ones meanwhile; `turn` waits until the end of
   * the event loop turn, so that all jobs of the turn share a batch.
   */
  readonly startsAt: "now" | "turn";
  /** Repeats each job of a failed batch alone, so that one job cannot fail the others. Default: all of them fail. */
  readonly isolatesFailures?: boolean;
  /** Returns the results in the order of the jobs. */
  readonly work: (jobs: readonly Job[]) => Promise<readonly Result[]>;
}

interface Waiting<Job, Result> {
  readonly job: Job;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Creates a batcher whose batches have at most `maxJobs` jobs. A call rejects with the error of its batch, or of its
 * own job with `isolatesFailures`.
 */
export function createBatcher<Job, Result>({
  maxJobs,
  startsAt,
  isolatesFailures = false,
  work,
}: BatcherSettings<Job, Result>): Batcher<Job, Result> {
  const waiting: Waiting<Job, Result>[] = [];
  let running: Promise<void> | undefined;

  const runBatch = async (batch: readonly Waiting<Job, Result>[]) => {
    try {
      const results = await work(batch.map(({ job }) => job));
      for (const [at, { resolve }] of batch.entries()) resolve(results[at] as Result);
    } catch (error) {
      if (isolatesFailures && batch.length > 1) for (const one of batch) await runBatch([one]);
      else for (const { reject } of batch) reject(error);
    }
  };
  const run = async () => {
    if (startsAt === "turn") await waitForTurnEnd();
    while (waiting.length > 0) await runBatch(waiting.splice(0, maxJobs));
    running = undefined;
  };

  return {
    add: (job) =>
      new Promise((resolve, reject) => {
        waiting.push({ job, resolve, reject });
        running ??= run();
      }),
    async idle() {
      while (running) await running;
    },
  };
}

/** Resolves after the callbacks of the current event loop turn. */
export function waitForTurnEnd(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
