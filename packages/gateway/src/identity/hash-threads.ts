import { availableParallelism } from "node:os";
import { createThread, type Thread } from "../lib/thread.ts";

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

/** The tag of argon2id; whether a password fits a bcrypt hash. */
export type HashResult = Uint8Array | boolean;

/** So many sign-ins may wait: whoever comes later is answered late anyway. */
const MOST_WAITING = 1_000;
/** Half of the cores: the others serve requests, and each hash that runs takes 19 MiB. */
const THREADS = Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2)));

let threads: Thread<HashJob, HashResult>[] | undefined;

/**
 * Hashes one password after the other in threads of low priority, so that however many people sign in at once, streams
 * go on. The threads belong to the process. Rejects when too many wait.
 */
export function hashInThread(job: HashJob): Promise<HashResult> {
  threads ??= Array.from({ length: THREADS }, () => createThread<HashJob, HashResult>(workerScript()));
  const [idlest] = threads.toSorted((a, b) => a.load - b.load);
  if (!idlest || idlest.load >= MOST_WAITING) return Promise.reject(new Error("too many passwords wait to be checked"));
  return idlest.run(job);
}

/** Beside this file in the sources, beside the bundle in `dist`. */
function workerScript(): URL {
  return new URL(import.meta.url.endsWith(".ts") ? "./password-worker.ts" : "./password-worker.mjs", import.meta.url);
}
