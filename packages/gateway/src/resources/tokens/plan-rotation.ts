const DAY_SECONDS = 86_400;

/** What decides when the key of a token is due. */
interface Since {
  /** 0 = the token has its first key. */
  readonly rotated_at: number;
  readonly created_time: number;
}

/** Adds the time of the next rotation to values that set a schedule. */
export function planRotation<V extends { readonly rotate_days?: number | undefined }>(
  values: V,
  since: Since,
): V & { readonly next_rotation_at?: number } {
  const { rotate_days: days } = values;
  if (days === undefined) return values;
  return { ...values, next_rotation_at: calculateNextRotation(days, since.rotated_at || since.created_time) };
}

/** Returns the epoch seconds at which a key that was made at `madeAt` is replaced; 0 = never. */
export function calculateNextRotation(days: number, madeAt: number): number {
  return days === 0 ? 0 : madeAt + days * DAY_SECONDS;
}
