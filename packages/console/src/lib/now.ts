import { createStore, useStore } from "./store.ts";

const STEP_MS = 15_000;
/** A difference up to this many seconds comes from the network delay and the whole seconds of the `Date` header. */
const TOLERATED = 30;

/** How many seconds the server's clock is ahead of the browser's. */
let ahead = 0;

/**
 * Returns Unix seconds by the server's clock, which dates the rows and expires the tokens; a browser's may be hours
 * off.
 */
export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000) + ahead;
}

const now = createStore(nowSeconds());
setInterval(() => now.write(nowSeconds()), STEP_MS);

/** Adopts the server's time from the `Date` of an answer that has just arrived. */
export function noteServerTime(date: string | null): void {
  const at = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(at)) return;
  const difference = Math.round((at - Date.now()) / 1000);
  const next = Math.abs(difference) > TOLERATED ? difference : 0;
  if (Math.abs(next - ahead) <= TOLERATED) return;
  ahead = next;
  now.write(nowSeconds());
}

/** Returns Unix seconds, updated every 15 seconds, which is enough for relative times. */
export function useNow(): number {
  return useStore(now);
}
