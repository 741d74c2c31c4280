/** Jobs that arrive one by one and are done many at a time. */
export interface Gathering<Job, Answer> {
  /** Rejects with whatever the batch of this job failed with. */
  add(job: Job): Promise<Answer>;
  /** Resolves when nothing waits. */
  idle(): Promise<void>;
}

export interface GatherSettings<Job, Answer> {
  /** Jobs of one batch. */
  readonly most: number;
  /** Answers in the order of the jobs. */
  readonly work: (jobs: readonly Job[]) => Promise<readonly Answer[]>;
}

interface Waiting<Job, Answer> {
  readonly job: Job;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** The first job leaves at once; those that arrive while a batch is under way leave together after it, first come first. */
export function gather<Job, Answer>({ most, work }: GatherSettings<Job, Answer>): Gathering<Job, Answer> {
  const waiting: Waiting<Job, Answer>[] = [];
  let running: Promise<void> | undefined;

  const run = async () => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, most);
      try {
        const answers = await work(batch.map(({ job }) => job));
        for (const [at, { resolve }] of batch.entries()) resolve(answers[at] as Answer);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
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
