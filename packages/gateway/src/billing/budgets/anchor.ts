/** The day on which the windows of a period begin. */
export interface Anchor {
  /** 1 = Monday; only weeks. */
  readonly weekday: number;
  /** 1 = January; only quarters and years. */
  readonly month: number;
  /** The last day of the month if it has fewer days. */
  readonly day: number;
}

const FIRST: Anchor = { weekday: 1, month: 1, day: 1 };
const LEAP_YEAR = 2028;

/** Reads an anchor; "" means the first day of the period. Returns undefined if the period has no such anchor. */
export function readAnchor(period: string, text: string): Anchor | undefined {
  if (text === "") return FIRST;
  switch (period) {
    case "week":
      return /^[1-7]$/.test(text) ? { ...FIRST, weekday: Number(text) } : undefined;
    case "month":
      return /^([1-9]|[12]\d|3[01])$/.test(text) ? { ...FIRST, day: Number(text) } : undefined;
    case "quarter":
    case "year":
      return readMonthAndDay(text);
    default:
      return undefined;
  }
}

function readMonthAndDay(text: string): Anchor | undefined {
  const [, month = "", day = ""] = /^(\d{2})-(\d{2})$/.exec(text) ?? [];
  const anchor = { ...FIRST, month: Number(month), day: Number(day) };
  const isMonth = anchor.month >= 1 && anchor.month <= 12;
  return isMonth && anchor.day >= 1 && anchor.day <= countDays(LEAP_YEAR, anchor.month - 1) ? anchor : undefined;
}

/** Returns the number of days of a month; `month` counts from 0 and may exceed a year. */
export function countDays(year: number, month: number): number {
  return new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
}
