import { REDEMPTION_STATUS, type Redemption } from "@fairway/wire";
import { expect, test } from "vitest";
import { NO_CHANGE, buildPlan } from "./plan.ts";

const code = (values: Partial<Redemption>): Redemption =>
  ({ id: 1, status: REDEMPTION_STATUS.unused, name: "spring", quota: 100, ...values }) as Redemption;

test("plans only what differs, and remembers what takes it back", () => {
  const codes = [code({}), code({ id: 2, name: "summer", quota: 500 })];
  const plan = buildPlan({ draft: { ...NO_CHANGE, name: " summer " }, quota: 500 }, codes);
  expect(plan).toEqual([
    { row: codes[0], patch: { name: "summer", quota: 500 }, undo: { name: "spring", quota: 100 } },
  ]);
  expect(buildPlan({ draft: NO_CHANGE, quota: undefined }, codes)).toEqual([]);
});

test("a code that was redeemed stays as it is", () => {
  const codes = [code({ status: REDEMPTION_STATUS.used }), code({ id: 2, status: REDEMPTION_STATUS.disabled })];
  const plan = buildPlan({ draft: { ...NO_CHANGE, status: "on" }, quota: undefined }, codes);
  expect(plan.map(({ row, patch }) => [row.id, patch])).toEqual([[2, { status: REDEMPTION_STATUS.unused }]]);
});
