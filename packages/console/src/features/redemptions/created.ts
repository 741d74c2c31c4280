import { createStore } from "../../lib/store.ts";

/** The batch that was just created; the dialog over the list shows it. */
export const createdCodes = createStore<{ readonly name: string; readonly codes: readonly string[] } | undefined>(
  undefined,
);
