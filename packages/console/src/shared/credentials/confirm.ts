import { createStore } from "../../lib/store.ts";

interface PendingConfirmation {
  answer(isConfirmed: boolean): void;
}

export const pendingConfirmation = createStore<PendingConfirmation | undefined>(undefined);

let current: Promise<boolean> | undefined;

/**
 * Prompts for the password or second factor once, however many calls wait for it; resolves to whether it was entered.
 */
export function confirmCaller(): Promise<boolean> {
  current ??= new Promise<boolean>((resolve) => {
    pendingConfirmation.write({
      answer(isConfirmed) {
        current = undefined;
        pendingConfirmation.write(undefined);
        resolve(isConfirmed);
      },
    });
  });
  return current;
}
