const DAY = 86_400;
/** With a clock change a day may be this short. */
const SHORTEST_DAY = DAY - 7_200;

const TIME = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
const DATE = { month: "short", day: "numeric" } as const;

/** Returns whether times of slots of this length need no hours. */
export function isByDay(length: number): boolean {
  return length >= SHORTEST_DAY;
}

/** Formats a label under the axis: midnight shows its date, slots of seconds their seconds. */
export function printTick(at: number, length: number, language: string): string {
  const date = new Date(at * 1000);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0;
  if (isByDay(length) || isMidnight) return new Intl.DateTimeFormat(language, DATE).format(date);
  const options = length < 60 ? ({ ...TIME, second: "2-digit" } as const) : TIME;
  return new Intl.DateTimeFormat(language, options).format(date);
}

/** Formats the name of a slot on its own. */
export function printStart(at: number, length: number, language: string): string {
  const date = { weekday: "short", ...DATE } as const;
  if (isByDay(length)) return new Intl.DateTimeFormat(language, date).format(at * 1000);
  const time = length < 60 ? ({ ...TIME, second: "2-digit" } as const) : TIME;
  return new Intl.DateTimeFormat(language, { ...date, ...time }).format(at * 1000);
}

/** Formats a moment with its date, such as the end of a span. */
export function printMoment(at: number, language: string): string {
  return new Intl.DateTimeFormat(language, { ...DATE, ...TIME }).format(at * 1000);
}
