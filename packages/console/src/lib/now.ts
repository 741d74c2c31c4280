import { createStore, useStore } from "./store.ts";

const STEP_MS = 15_000;
/** A difference up to this many seconds is the way of the answer, and the whole seconds of its head. */
const TOLERATED = 30;

/** Seconds by which the server's clock is ahead of the browser's. */
let ahead = 0;

/** Unix seconds by the server's clock, which stamps the rows and ends the tokens; a browser's may be hours off. */
export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000) + ahead;
}

const now = createStore(nowSeconds());
setInterval(() => now.write(nowSeconds()), STEP_MS);

/** Takes over the server's time from the `Date` of an answer that has just come. */
export function noteServerTime(date: string | null): void {
  const at = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(at)) return;
  const difference = Math.round((at - Date.now()) / 1000);
  const next = Math.abs(difference) > TOLERATED ? difference : 0;
  if (Math.abs(next - ahead) <= TOLERATED) return;
  ahead = next;
  now.write(nowSeconds());
}

/** Unix seconds, moving every 15 seconds: enough for relative times. */
export function useNow(): number {
  return useStore(now);
}
