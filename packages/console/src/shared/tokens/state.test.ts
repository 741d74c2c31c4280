import { NEVER_EXPIRES, ROLE, TOKEN_STATUS } from "@fairway/wire";
import { expect, test } from "vitest";
import { isOwnersToSwitch, resolveTokenStatus } from "./state.ts";

const { enabled, disabled, expired } = TOKEN_STATUS;

test("a token whose time has passed is expired, whether or not the server has marked it (C-253)", () => {
  expect(resolveTokenStatus({ status: enabled, expired_time: 1_000 }, 1_000)).toBe(expired);
  expect(resolveTokenStatus({ status: enabled, expired_time: 1_001 }, 1_000)).toBe(enabled);
  expect(resolveTokenStatus({ status: enabled, expired_time: NEVER_EXPIRES }, 1_000)).toBe(enabled);
  expect(resolveTokenStatus({ status: disabled, expired_time: 1_000 }, 1_000)).toBe(disabled);
});

test("what an administrator disabled, its owner cannot switch; the super administrator can", () => {
  expect(isOwnersToSwitch({ disabled_by_admin: false }, ROLE.user)).toBe(true);
  expect(isOwnersToSwitch({ disabled_by_admin: true }, ROLE.user)).toBe(false);
  expect(isOwnersToSwitch({ disabled_by_admin: true }, ROLE.admin)).toBe(false);
  expect(isOwnersToSwitch({ disabled_by_admin: true }, ROLE.root)).toBe(true);
});
