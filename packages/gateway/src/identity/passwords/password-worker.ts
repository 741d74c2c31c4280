import { argon2Sync } from "node:crypto";
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { compareSync } from "bcryptjs";
import type { ThreadAnswer } from "../../lib/async/thread.ts";
import type { HashJob, HashResult } from "./hash-threads.ts";

/** Program of a thread that hashes passwords with a lower priority than the rest of the process. */

/** Low, because on a busy machine sign-ins would otherwise never run. */
const NICE = 2;

/** Lowers the priority. On Linux every thread has its own priority; elsewhere the thread shares that of the process. */
function stepBack(): void {
  try {
    setPriority(Number(readlinkSync("/proc/thread-self").split("/").at(-1)), NICE);
  } catch {
    // Some sandboxes hide /proc or fix priorities: then the thread works like the others.
  }
}

if (process.platform === "linux") stepBack();

function work(job: HashJob): HashResult {
  if (job.kind === "bcrypt") return compareSync(job.password, job.stored);
  const { password, salt, cost, tagLength } = job;
  const { memoryKib: memory, passes, lanes: parallelism } = cost;
  return argon2Sync("argon2id", { message: password, nonce: salt, memory, passes, parallelism, tagLength });
}

function answer(id: number, job: HashJob): ThreadAnswer<HashResult> {
  try {
    return { id, result: work(job) };
  } catch (error) {
    return { id, error: String(error) };
  }
}

parentPort?.on("message", ({ id, job }: { readonly id: number; readonly job: HashJob }) =>
  parentPort?.postMessage(answer(id, job)),
);
