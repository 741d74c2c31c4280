import { ROLE, USER_STATUS, type User } from "@fairway/wire";
import { expect, test } from "vitest";
import { isChangeable, NO_CHANGE, buildPlan } from "./plan.ts";

const user = (values: Partial<User>): User =>
  ({ id: 1, status: 1, role: ROLE.user, group: "default", quota: 100, limits: {}, DeletedAt: null, ...values }) as User;

test("plans only what differs, and remembers what takes it back", () => {
  const users = [user({}), user({ id: 2, group: "vip", status: USER_STATUS.disabled })];
  const plan = buildPlan({ draft: { ...NO_CHANGE, status: "off", group: "vip" }, added: 0 }, users);
  expect(plan).toEqual([
    {
      row: users[0],
      patch: { status: USER_STATUS.disabled, group: "vip" },
      undo: { status: USER_STATUS.enabled, group: "default" },
    },
  ]);
  expect(buildPlan({ draft: NO_CHANGE, added: 0 }, users)).toEqual([]);
});

test("an amount is added to the balance of each", () => {
  const users = [user({}), user({ id: 2, quota: -5 })];
  const plan = buildPlan({ draft: NO_CHANGE, added: 50 }, users);
  expect(plan.map(({ patch, undo }) => [undo.quota, patch.quota])).toEqual([
    [100, 150],
    [-5, 45],
  ]);
});

test("limits are replaced as a whole, and those of all users are the blank ones", () => {
  const users = [user({ limits: { rpm: 60, tpm: 5 } }), user({ id: 2, limits: { concurrency: 2 } })];
  const limited = buildPlan({ draft: { ...NO_CHANGE, limitsMode: "set", concurrency: "2" }, added: 0 }, users);
  expect(limited.map(({ row: { id }, patch, undo }) => [id, patch.limits, undo.limits])).toEqual([
    [1, '{"concurrency":2}', '{"rpm":60,"tpm":5}'],
  ]);
  expect(buildPlan({ draft: { ...NO_CHANGE, rpm: "9" }, added: 0 }, users)).toEqual([]);
  expect(buildPlan({ draft: { ...NO_CHANGE, limitsMode: "set" }, added: 0 }, users)).toHaveLength(2);
});

test("deleted accounts, one's own and those of one's own role are left out", () => {
  const own = { role: ROLE.admin };
  expect(isChangeable(own, user({}))).toBe(true);
  expect(isChangeable(own, user({ role: ROLE.admin }))).toBe(false);
  expect(isChangeable(own, user({ DeletedAt: "2026-01-01T00:00:00Z" }))).toBe(false);
  expect(isChangeable(undefined, user({}))).toBe(false);
});
