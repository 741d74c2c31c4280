import { argon2Sync } from "node:crypto";
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { compareSync } from "bcryptjs";
import type { ThreadAnswer } from "../../lib/async/thread.ts";
import type { HashJob, HashResult } from "./hash-threads.ts";

/** Body of a thread that hashes passwords, behind everything else that the process does. */

/** Little: on a machine that is busy all over, sign-ins would otherwise never have their turn. */
const NICE = 2;

/** On Linux every thread has a priority of its own; elsewhere the thread shares the one of the process. */
function stepBack(): void {
  try {
    setPriority(Number(readlinkSync("/proc/thread-self").split("/").at(-1)), NICE);
  } catch {
    // Some sandboxes show no /proc or fix priorities: the thread works as the others do.
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
