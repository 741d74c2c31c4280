import { expect, test } from "vitest";
import { describeRest } from "./rest.ts";

const DAY = 86_400;

test("what runs out is counted in whole days, and is urgent within three of them", () => {
  expect(describeRest(1_000 - 5, 1_000)).toEqual({ text: "restOver", days: 0, isUrgent: true });
  expect(describeRest(1_000 + DAY - 1, 1_000)).toEqual({ text: "restToday", days: 0, isUrgent: true });
  expect(describeRest(1_000 + 3 * DAY + 1, 1_000)).toEqual({ text: "restDays", days: 3, isUrgent: true });
  expect(describeRest(1_000 + 4 * DAY, 1_000)).toEqual({ text: "restDays", days: 4, isUrgent: false });
});
