import { ACTIONS, type Action } from "./actions.ts";
import { SETTINGS, type Event, type Schedule, type Setting } from "./schedule.ts";

/** Replicas of a setting; SQLite belongs to one process. */
export const countReplicas = ({ engine }: Setting) => (engine === "SQLite" ? 1 : 3);

const ROUNDS = 2;
const ROUND_MS = 20_000;
const EVENTS = { least: 5, most: 9 };
const SHORTEST_MS = 200;
const LONGEST_MS = 8_000;

/** Returns numbers from 0 to 1 that depend on the seed alone. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Draws the run of a seed. */
export function drawSchedule(seed: number, chosen?: Setting): Schedule {
  const random = createRandom(seed);
  const setting = chosen ?? (SETTINGS[seed % SETTINGS.length] as Setting);
  return { seed, setting, rounds: Array.from({ length: ROUNDS }, () => drawRound(random, setting)) };
}

/** Faults of different parts overlap; those of one part do not. */
function drawRound(random: () => number, setting: Setting): Event[] {
  const fitting = ACTIONS.filter((action) => action.fits(setting));
  const pick = (count: number) => Math.min(count - 1, Math.floor(random() * count));
  const count = EVENTS.least + pick(EVENTS.most - EVENTS.least + 1);
  const events: { readonly action: Action; readonly event: Event }[] = [];
  for (let tries = 0; events.length < count && tries < 20 * count; tries += 1) {
    const action = fitting[pick(fitting.length)] as Action;
    const replica = action.isOfReplica ? pick(countReplicas(setting)) : 0;
    const atMs = Math.round(random() * ROUND_MS);
    const lastsMs = Math.round(SHORTEST_MS * (LONGEST_MS / SHORTEST_MS) ** random());
    const event = { action: action.name, replica, atMs, lastsMs };
    const parts = action.parts(replica);
    const collides = events.some(
      (other) =>
        other.action.parts(other.event.replica).some((part) => parts.includes(part)) && overlap(other.event, event),
    );
    if (!collides) events.push({ action, event });
  }
  return events.map(({ event }) => event).sort((a, b) => a.atMs - b.atMs);
}

/** A part that was repaired has a second to work before it fails again. */
const BETWEEN_MS = 1_000;

function overlap(a: Event, b: Event): boolean {
  return a.atMs < b.atMs + b.lastsMs + BETWEEN_MS && b.atMs < a.atMs + a.lastsMs + BETWEEN_MS;
}
