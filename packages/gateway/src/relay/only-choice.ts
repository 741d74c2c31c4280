import type { Choice, Selection } from "./select.ts";

/** A selection without a choice: the channel was named, or keeps what the request goes on from. */
export function onlyChoice(choice: Choice): Selection {
  let left: Choice | undefined = choice;
  return {
    next() {
      const once = left;
      left = undefined;
      return once;
    },
    failed: () => undefined,
    full: () => undefined,
    reopen: () => choice,
    lastResort: () => undefined,
    isExhausted: true,
    restsForMs: undefined,
  };
}
