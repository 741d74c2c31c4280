import { createStore, useStore } from "../store.ts";

export type Health = "good" | "shaky" | "away";

const WINDOW_MS = 30_000;
let outcomes: { at: number; isGood: boolean }[] = [];
const health = createStore<Health>("good");

let onReturn: () => void = () => {};

/** Sets what to do when the server answers again after an outage. */
export function whenServerReturns(action: () => void): void {
  onReturn = action;
}

/** Records the result of a call of the console; `away` means that there was no answer. */
export function noteOutcome(outcome: "good" | "failed" | "away"): void {
  const isBack = health.read() === "away" && outcome !== "away";
  const now = performance.now();
  outcomes = [...outcomes.filter((entry) => now - entry.at < WINDOW_MS), { at: now, isGood: outcome === "good" }];
  const isShaky = outcomes.some((entry) => !entry.isGood);
  health.write(outcome === "away" ? "away" : isShaky ? "shaky" : "good");
  if (isBack) onReturn();
}

/** Returns the state of the connection, based on the console's own calls of the last 30 seconds. */
export function useHealth(): Health {
  return useStore(health);
}
