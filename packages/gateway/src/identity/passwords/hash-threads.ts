import { availableParallelism } from "node:os";
import { Refusal } from "../../lib/refusal.ts";
import { createThread, type Thread } from "../../lib/async/thread.ts";

export interface Cost {
  readonly memoryKib: number;
  readonly passes: number;
  readonly lanes: number;
}

export type HashJob =
  | {
      readonly kind: "argon2id";
      readonly password: string;
      readonly salt: Uint8Array;
      readonly cost: Cost;
      readonly tagLength: number;
    }
  | { readonly kind: "bcrypt"; readonly password: string; readonly stored: string };

/** The tag of argon2id, or whether a password matches a bcrypt hash. */
export type HashResult = Uint8Array | boolean;

/** Maximum waiting calls for each thread: a longer queue would answer only after many seconds. */
const MAX_WAITING = 300;
const RETRY_SECONDS = 10;
/** Half of the cores, because the others serve requests, and each running hash takes 19 MiB. */
const THREADS = Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2)));

/** Computes a hash; rejects with `too_many_requests` if too many wait. */
export type Hash = (job: HashJob) => Promise<HashResult>;

/** Hashes one password after the other in each thread; threads start with their first job. */
export function createHash(count = THREADS, maxWaiting = MAX_WAITING): Hash {
  let threads: Thread<HashJob, HashResult>[] | undefined;
  return (job) => {
    threads ??= Array.from({ length: count }, () => createThread<HashJob, HashResult>(workerScript()));
    const [idlest] = threads.toSorted((a, b) => a.load - b.load);
    if (!idlest || idlest.load >= maxWaiting)
      return Promise.reject(new Refusal("too_many_requests", { retryAfterSeconds: RETRY_SECONDS }));
    return idlest.run(job);
  };
}

/** Hashes in threads of the process, so that streams continue while many people sign in. */
export const hashInThread = createHash();

/** The script is next to this file in the sources, and next to the bundle in `dist`. */
function workerScript(): URL {
  return new URL(import.meta.url.endsWith(".ts") ? "./password-worker.ts" : "./password-worker.mjs", import.meta.url);
}
