import type { ObjectChange } from "./store.ts";

const DAY = 86_400;
/** Expired rows are still distinguished from unknown ones, and deletions upstream are tried again, for this long. */
export const REMEMBERED_SECONDS = 7 * DAY;
export const FIRST_RETRY_SECONDS = 60;

/**
 * Hides a file that the settlement of a batch still reads: for the client it is deleted, and the sweep deletes it
 * upstream after the settlement. Who deletes results before they are booked must pay for them all the same.
 */
export function buildLateDeletion(now: number): ObjectChange {
  return { state: "deleting", nextCheckAt: now + FIRST_RETRY_SECONDS, expiresAt: now + REMEMBERED_SECONDS };
}
