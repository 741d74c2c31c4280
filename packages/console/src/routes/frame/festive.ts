/** Days of the lunar year's first month, up to the Lantern Festival. */
const LUNAR_DAYS = 15;
const DAY_MS = 86_400_000;

const lunar = new Intl.DateTimeFormat("en-u-ca-chinese", { month: "numeric", day: "numeric" });

/** Returns month and day of the Chinese calendar; a leap month has no number. */
function lunarDay(date: Date): { readonly month: number; readonly day: number } {
  const parts = Object.fromEntries(lunar.formatToParts(date).map(({ type, value }) => [type, value]));
  return { month: Number(parts.month), day: Number(parts.day) };
}

function isInLunarFeast(date: Date): boolean {
  const { month, day } = lunarDay(date);
  if (month === 1) return day <= LUNAR_DAYS;
  const tomorrow = lunarDay(new Date(date.getTime() + DAY_MS));
  return tomorrow.month === 1 && tomorrow.day === 1;
}

/**
 * Returns whether the day belongs to a New Year: 1 January, 9 to 24 February as in compatible consoles, and the lunar
 * festival.
 */
export function isFestive(date: Date): boolean {
  const [month, day] = [date.getMonth() + 1, date.getDate()];
  if (month === 1 && day === 1) return true;
  return (month === 2 && day >= 9 && day <= 24) || isInLunarFeast(date);
}
