import { createStore, useStore } from "./store.ts";

const STEP_MS = 15_000;

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

const now = createStore(nowSeconds());
setInterval(() => now.write(nowSeconds()), STEP_MS);

/** Unix seconds, moving every 15 seconds: enough for relative times. */
export function useNow(): number {
  return useStore(now);
}
