import { setTimeout as pause } from "node:timers/promises";
import { isTransient } from "./errors.ts";

const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 10;

/** Repeats `work` after deadlocks and serialization failures, with growing pauses and at most five attempts. */
export async function retryTransient<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !isTransient(error)) throw error;
      await pause(Math.random() * FIRST_PAUSE_MS * 2 ** attempt);
    }
  }
}
