import { number } from "../dialects/core/read.ts";
import { seconds, type Clock } from "../lib/clock.ts";
import type { Logger } from "../observability/log.ts";
import { findAccount } from "./account.ts";
import { buildLateDeletion, FIRST_RETRY_SECONDS, REMEMBERED_SECONDS } from "./late-deletion.ts";
import { deleteAt, isMissing, type LibraryDeps } from "./library.ts";
import type { StoredObject } from "./stored-object.ts";

export interface SweepDeps extends LibraryDeps {
  readonly clock: Clock;
  readonly log: Logger;
}

const ROWS_AT_ONCE = 200;
const MAX_RETRY_SECONDS = 21_600;

/**
 * Frees what uploads of dead processes took, ends what has expired, and deletes upstream what belonged to deleted
 * users, and results that were deleted before their batch was settled. `confirm` throws when another replica leads.
 */
export async function sweepObjects(deps: SweepDeps, signal: AbortSignal, confirm: () => Promise<void>): Promise<void> {
  const { store, clock } = deps;
  await store.markOrphans(seconds(clock) + REMEMBERED_SECONDS);
  for (const object of await store.due(ROWS_AT_ONCE)) {
    await confirm();
    await sweepOne(object, signal, deps);
  }
}

async function sweepOne(object: StoredObject, signal: AbortSignal, deps: SweepDeps): Promise<void> {
  const { store, clock } = deps;
  switch (object.state) {
    case "sending":
    case "expired":
      await store.remove(object);
      return;
    case "ready":
    case "failed":
    case "lost":
      await store.change(object, { state: "expired", nextCheckAt: seconds(clock) + REMEMBERED_SECONDS });
      return;
    case "deleting":
      await deleteUpstream(object, signal, deps);
  }
}

async function deleteUpstream(object: StoredObject, signal: AbortSignal, deps: SweepDeps): Promise<void> {
  const { store, snapshots, hashKey, call, clock, log } = deps;
  const account = findAccount(snapshots.current().channels, object, hashKey);
  const now = seconds(clock);
  if (account && (await store.holdsResults(object))) {
    await store.change(object, buildLateDeletion(now));
    return;
  }
  if (account && object.upstreamId !== "" && now < object.expiresAt)
    try {
      await deleteAt(account, object, { call, signal });
    } catch (error) {
      if (!isMissing(error)) {
        const tries = number(object.facts, "tries") ?? 0;
        const wait = Math.min(FIRST_RETRY_SECONDS * 2 ** tries, MAX_RETRY_SECONDS);
        await store.change(object, { facts: { ...object.facts, tries: tries + 1 }, nextCheckAt: now + wait });
        log.warn("a deleted file is not deleted upstream yet", { object: object.id, error });
        return;
      }
    }
  await store.remove(object);
}
