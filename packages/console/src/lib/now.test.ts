import { expect, test } from "vitest";
import { noteServerTime, nowSeconds } from "./now.ts";

const HOUR = 3_600;

/** Returns the date of a server whose clock is ahead by this many seconds. */
function dateAhead(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toUTCString();
}

/** Returns how many seconds the time in use is ahead of the browser's. */
function ahead(): number {
  return nowSeconds() - Math.floor(Date.now() / 1000);
}

test.each([2 * HOUR, -400 * 24 * HOUR])("follows a server whose clock is %i seconds ahead", (seconds) => {
  noteServerTime(dateAhead(seconds));
  expect(Math.abs(ahead() - seconds)).toBeLessThanOrEqual(2);
  noteServerTime(dateAhead(0));
  expect(ahead()).toBe(0);
});

test("takes a few seconds for the way of the answer", () => {
  noteServerTime(dateAhead(-12));
  expect(ahead()).toBe(0);
});

test("an answer without a time changes nothing", () => {
  noteServerTime(dateAhead(HOUR));
  const before = ahead();
  noteServerTime(null);
  noteServerTime("yesterday");
  expect(Math.abs(ahead() - before)).toBeLessThanOrEqual(1);
  noteServerTime(dateAhead(0));
});
