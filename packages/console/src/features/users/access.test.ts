import { ROLE, type User } from "@fairway/wire";
import { expect, test } from "vitest";
import { isOpenTo } from "./access.ts";

const user = (id: number, role: number, DeletedAt: string | null = null) => ({ id, role, DeletedAt }) as User;

test("an account is open to those above it and to its owner", () => {
  const admin = user(2, ROLE.admin);
  expect(isOpenTo(admin, user(3, ROLE.user))).toBe(true);
  expect(isOpenTo(admin, admin)).toBe(true);
  expect(isOpenTo(admin, user(4, ROLE.admin))).toBe(false);
  expect(isOpenTo(admin, user(1, ROLE.root))).toBe(false);
  expect(isOpenTo(user(1, ROLE.root), user(1, ROLE.root))).toBe(true);
  expect(isOpenTo(undefined, user(3, ROLE.user))).toBe(false);
});

test("no user may open a deleted account", () => {
  expect(isOpenTo(user(1, ROLE.root), user(3, ROLE.user, "2026-11-22T00:00:00Z"))).toBe(false);
});
