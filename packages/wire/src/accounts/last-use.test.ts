import { expect, it } from "vitest";
import { resolveLastUse } from "./tokens.ts";

it("a token that was only created was never used", () => {
  const created = { created_time: 100, accessed_time: 100, used_quota: 0 };
  expect(resolveLastUse(created)).toBe(0);
  expect(resolveLastUse({ ...created, accessed_time: 147 })).toBe(147);
  expect(resolveLastUse({ ...created, used_quota: 1 })).toBe(100);
});
