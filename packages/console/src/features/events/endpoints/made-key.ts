import { createStore } from "../../../lib/store.ts";

/** A signing key that was just made; the page of its endpoint shows it once. */
export const madeKey = createStore<{ readonly endpoint: string; readonly key: string } | undefined>(undefined);
