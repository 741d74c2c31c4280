import { Worker } from "node:worker_threads";

/** A thread's answer to one job; answers arrive in any order. */
export type ThreadAnswer<Result> =
  | { readonly id: number; readonly result: Result }
  | { readonly id: number; readonly error: string };

/**
 * A thread that processes one job after the other; it starts with the first job and does not prevent the process from
 * exiting.
 */
export interface Thread<Job, Result> {
  run(job: Job): Promise<Result>;
  /** The number of jobs that wait or run. */
  readonly load: number;
}

interface Waiting<Job, Result> {
  readonly job: Job;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
  isSecondTry: boolean;
}

/** @param script receives `{ id, job }` and posts a ThreadAnswer */
export function createThread<Job, Result>(script: URL): Thread<Job, Result> {
  const waiting = new Map<number, Waiting<Job, Result>>();
  let worker: Worker | undefined;
  let lastId = 0;

  const start = (): Worker => {
    const started = new Worker(script);
    started.on("message", finish);
    started.on("error", (error) => restart(started, error));
    started.on("exit", () => restart(started, new Error("the thread ended")));
    worker = started;
    return started;
  };

  const post = (id: number, { job }: Waiting<Job, Result>) => {
    const target = worker ?? start();
    target.ref();
    target.postMessage({ id, job });
  };

  const finish = (answer: ThreadAnswer<Result>) => {
    const one = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (waiting.size === 0) worker?.unref();
    if (!one) return;
    if ("error" in answer) one.reject(new Error(answer.error));
    else one.resolve(answer.result);
  };

  /** Restarts a dead thread with its jobs; each job gets one more try, so that none can kill threads forever. */
  const restart = (dead: Worker, error: unknown) => {
    if (worker !== dead) return;
    worker = undefined;
    for (const [id, one] of waiting) {
      if (one.isSecondTry) {
        waiting.delete(id);
        one.reject(new Error("a thread failed twice at one job", { cause: error }));
      } else {
        one.isSecondTry = true;
        post(id, one);
      }
    }
  };

  return {
    get load() {
      return waiting.size;
    },
    run: (job) =>
      new Promise((resolve, reject) => {
        const one = { job, resolve, reject, isSecondTry: false };
        waiting.set((lastId += 1), one);
        post(lastId, one);
      }),
  };
}
