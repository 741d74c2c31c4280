const DAY = 86_400;
/** Within this many days someone has to act now. */
const URGENT_DAYS = 3;

export interface Rest {
  readonly text: "restOver" | "restToday" | "restDays";
  readonly days: number;
  readonly isUrgent: boolean;
}

/** Describes how long something lasts, in whole days. */
export function describeRest(runsOutAt: number, now: number): Rest {
  const length = runsOutAt - now;
  const days = Math.floor(Math.max(0, length) / DAY);
  const text = length <= 0 ? "restOver" : days === 0 ? "restToday" : "restDays";
  return { text, days, isUrgent: days <= URGENT_DAYS };
}
