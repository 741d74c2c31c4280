import { expect, test } from "vitest";
import { loadEnv } from "../config/env.ts";
import { edgeRules } from "./rules.ts";

test("the edge has limits by default", () => {
  expect(edgeRules(loadEnv({}))).toEqual({
    address: { name: "api-address", limit: 180, windowMs: 180_000 },
    user: { name: "api-user", limit: 1_800, windowMs: 180_000 },
    critical: { name: "critical", limit: 20, windowMs: 1_200_000, onOutage: "deny" },
    web: { name: "web", limit: 900, windowMs: 180_000 },
  });
});

test("a limit that is off is no rule", () => {
  const off = { FAIRWAY_LIMIT_API: "off", FAIRWAY_LIMIT_CRITICAL: "off", FAIRWAY_LIMIT_WEB: "off" };
  expect(edgeRules(loadEnv(off))).toEqual({ address: undefined, user: undefined, critical: undefined, web: undefined });
});
