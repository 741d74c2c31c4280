/** The id up to which no new row can appear. */
export interface Horizon {
  /**
   * @param newest the highest id in the log now
   * @returns the highest id that was there `settleMs` ago; undefined before so much time has passed
   */
  settled(newest: number): number | undefined;
}

interface Sample {
  readonly at: number;
  readonly newest: number;
}

/**
 * Creates the horizon. Servers assign ids before their transactions commit, so a row may appear below one that is
 * already visible. Rows that were visible longer ago than a transaction can last are final: each id below them has
 * committed or never will.
 * @param elapsed milliseconds of a clock that never goes back
 */
export function createHorizon(settleMs: number, elapsed: () => number): Horizon {
  let samples: Sample[] = [];
  return {
    settled(newest) {
      if (settleMs === 0) return newest;
      const now = elapsed();
      samples.push({ at: now, newest });
      const old = samples.findLast(({ at }) => at <= now - settleMs);
      if (old) samples = samples.filter(({ at }) => at >= old.at);
      return old?.newest;
    },
  };
}
