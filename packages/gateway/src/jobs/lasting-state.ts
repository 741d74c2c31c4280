export interface LastingState<Finding> {
  /** Returns what is wrong now; undefined while all is well. */
  look(): Promise<Finding | undefined> | Finding | undefined;
  /** How long it may be wrong. */
  readonly afterMs: number;
  /** Called once for each time that it lasts longer; again at the next check if it rejects. */
  report(finding: Finding, forMs: number): Promise<void>;
  /** Monotonic milliseconds. */
  readonly elapsed?: (() => number) | undefined;
}

/** Returns a check of a state that should not last; the caller decides how often it runs. */
export function watchLastingState<Finding>(state: LastingState<Finding>): () => Promise<void> {
  const elapsed = state.elapsed ?? (() => performance.now());
  let since: number | undefined;
  let isKnown = false;
  let due: (() => Promise<void>) | undefined;
  const look = async () => {
    try {
      return await state.look();
    } catch (error) {
      // How long it was wrong before this is not known.
      since = undefined;
      throw error;
    }
  };
  return async () => {
    const finding = await look();
    const now = elapsed();
    if (finding === undefined) {
      since = undefined;
      isKnown = false;
    } else {
      since ??= now;
      const forMs = now - since;
      if (!isKnown && forMs >= state.afterMs) {
        isKnown = true;
        due = () => state.report(finding, forMs);
      }
    }
    await due?.();
    due = undefined;
  };
}
