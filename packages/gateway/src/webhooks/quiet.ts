import type { WebhookQuiet } from "@fairway/wire";

const MINUTE_MS = 60_000;
const MINUTES_OF_DAY = 24 * 60;
const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;

/**
 * Returns when the quiet hours end that contain the time; undefined outside them. The hours belong to the weekday on
 * which they begin, and may pass midnight.
 */
export function findQuietEnd(quiet: WebhookQuiet | undefined, atMs: number): number | undefined {
  if (!quiet) return undefined;
  const from = readMinutes(quiet.from);
  const to = readMinutes(quiet.to);
  const length = (to - from + MINUTES_OF_DAY) % MINUTES_OF_DAY || MINUTES_OF_DAY;
  const { minutes, weekday } = readClock(quiet.zone, atMs);
  const passed = (minutes - from + MINUTES_OF_DAY) % MINUTES_OF_DAY;
  if (passed >= length) return undefined;
  const began = minutes >= from ? weekday : (weekday + 6) % 7;
  if (!quiet.weekdays.includes(began)) return undefined;
  return atMs - (atMs % MINUTE_MS) + (length - passed) * MINUTE_MS;
}

function readMinutes(text: string): number {
  const [hours = 0, minutes = 0] = text.split(":").map(Number);
  return hours * 60 + minutes;
}

function readClock(zone: string, atMs: number) {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }).formatToParts(atMs);
  const read = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? "";
  const weekday = WEEKDAYS.findIndex((name) => name === read("weekday"));
  return { minutes: Number(read("hour")) * 60 + Number(read("minute")), weekday };
}
