import { UnorderedSet, type Member } from "../unordered-set.ts";

/** A body that is being received. */
export interface PacedBody {
  /** Bytes that have arrived. */
  readonly size: () => number;
  readonly minBytesPerSecond: number;
  /** Called once, if the body is slower than `minBytesPerSecond` after the first 30 s. */
  readonly tooSlow: () => void;
}

const GRACE_MS = 30_000;
const CHECK_EVERY_MS = 5_000;
const begun = new UnorderedSet<Watched>();
let clock: NodeJS.Timeout | undefined;

/** Watches a body from the start; returns a function that ends it. One timer checks all bodies. */
export function watchPace(body: PacedBody): () => void {
  const watched = { body, startedAt: performance.now() };
  begun.add(watched);
  clock ??= setInterval(check, CHECK_EVERY_MS).unref();
  return () => void begun.delete(watched);
}

interface Watched extends Member {
  readonly body: PacedBody;
  readonly startedAt: number;
}

function check(): void {
  const now = performance.now();
  for (const watched of begun.all()) {
    const { body, startedAt } = watched;
    const beyondMs = now - startedAt - GRACE_MS;
    if (beyondMs <= 0 || body.size() >= (beyondMs / 1000) * body.minBytesPerSecond) continue;
    begun.delete(watched);
    body.tooSlow();
  }
  if (begun.size > 0) return;
  clearInterval(clock);
  clock = undefined;
}
