import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { PauseRow, PauseStore } from "./store.ts";

export interface RunPausesDeps {
  readonly store: PauseStore;
  readonly clock: Clock;
  /** Sends a small request through a channel; returns whether it passed. */
  readonly test: (channelId: number) => Promise<boolean>;
}

const TEST_EVERY_SECONDS = 60;

/**
 * Ends pauses whose time has passed, tests the channels of those that wait for tests, and switches the ones that pass
 * on again. A pause without channels, because people switched them on, ends too.
 */
export async function runPauses(deps: RunPausesDeps, confirm: () => Promise<void>): Promise<void> {
  for (const pause of await deps.store.listRunning()) {
    const held = await deps.store.listHeld(pause);
    if (held.length === 0) await deps.store.end(pause.id, "person");
    else if (pause.until_tests === 1) await testHeld(deps, pause, { held, confirm });
    else await endAtTime(deps, pause);
  }
}

async function endAtTime({ store, clock }: RunPausesDeps, pause: PauseRow): Promise<void> {
  if (pause.until_at === 0 || pause.until_at > seconds(clock)) return;
  await store.resume(pause);
  await store.end(pause.id, "time");
}

interface Held {
  readonly held: readonly number[];
  /** Throws if another process leads now. */
  readonly confirm: () => Promise<void>;
}

async function testHeld(
  { store, clock, test }: RunPausesDeps,
  pause: PauseRow,
  { held, confirm }: Held,
): Promise<void> {
  const now = seconds(clock);
  if (pause.until_at > now || now - pause.tested_at < TEST_EVERY_SECONDS) return;
  await store.noteTests(pause.id);
  for (const id of held) {
    const isOk = await test(id).catch(rejectRefused);
    // An upstream may take minutes.
    await confirm();
    if (isOk) await store.resume(pause, [id]);
  }
  if ((await store.listHeld(pause)).length === 0) await store.end(pause.id, "tests");
}

/** Treats a channel that cannot be tested like one that fails: a person decides when it comes back. */
function rejectRefused(error: unknown): false {
  if (error instanceof Refusal) return false;
  throw error;
}
