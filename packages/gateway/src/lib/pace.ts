/** A body on its way. */
export interface PacedBody {
  /** Bytes that have arrived. */
  readonly size: () => number;
  readonly minBytesPerSecond: number;
  /** Called once, when it comes slower than that after the first 30 s. */
  readonly tooSlow: () => void;
}

const GRACE_MS = 30_000;
const LOOK_EVERY_MS = 5_000;
const begun = new Map<PacedBody, number>();
let clock: NodeJS.Timeout | undefined;

/** Watches a body from its first moment on; answers what ends the watch. One clock looks at all bodies. */
export function watchPace(body: PacedBody): () => void {
  begun.set(body, performance.now());
  clock ??= setInterval(look, LOOK_EVERY_MS).unref();
  return () => void begun.delete(body);
}

function look(): void {
  const now = performance.now();
  for (const [body, startedAt] of begun) {
    const beyondMs = now - startedAt - GRACE_MS;
    if (beyondMs <= 0 || body.size() >= (beyondMs / 1000) * body.minBytesPerSecond) continue;
    begun.delete(body);
    body.tooSlow();
  }
  if (begun.size > 0) return;
  clearInterval(clock);
  clock = undefined;
}
