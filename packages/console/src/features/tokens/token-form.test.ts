import { expect, test } from "vitest";
import { toLocalInput } from "../../lib/format.ts";
import { batchNames } from "./api.ts";
import { checkToken, EMPTY_TOKEN, findUnserved, toTokenBudget, toTokenInput } from "./token-form.ts";

const filled = { ...EMPTY_TOKEN, name: "my-app" };

test("a new token needs a name and a quantity from 1 to 100, and starts with one dollar", () => {
  expect(checkToken(EMPTY_TOKEN, true)).toEqual({ name: "nameMissing" });
  expect(["0", "1.5", "x", ""].map((count) => checkToken({ ...filled, count }, true).count)).toEqual(
    Array.from({ length: 4 }, () => "badCount"),
  );
  expect(checkToken({ ...filled, count: "100" }, true)).toEqual({});
  expect(checkToken({ ...filled, count: "101" }, true)).toEqual({ count: "badCount" });
  expect(filled.remain_quota).toBe(500_000);
});

test("an amount is needed unless the token has no limit", () => {
  expect(checkToken({ ...filled, remain_quota: undefined }, true)).toEqual({ remain_quota: "badAmount" });
  expect(checkToken({ ...filled, remain_quota: undefined, unlimited_quota: true }, true)).toEqual({});
});

test("a bad date has the message of its form", () => {
  expect(checkToken({ ...filled, expires: "soon" }, true)).toEqual({ expires: "badExpiryCreate" });
  expect(checkToken({ ...filled, expires: "soon" }, false)).toEqual({ expires: "badExpiryUpdate" });
});

test("a new token does not begin expired, an expired one may be edited", () => {
  const expires = toLocalInput(1_600_000_000);
  expect(checkToken({ ...filled, expires }, true)).toEqual({ expires: "pastExpiry" });
  expect(checkToken({ ...filled, expires }, false)).toEqual({});
});

test("no date means never, limits are joined by commas", () => {
  expect(toTokenInput({ ...filled, models: ["a", "b"] })).toMatchObject({ expired_time: -1, model_limits: "a,b" });
  expect(toTokenInput({ ...filled, expires: toLocalInput(1_900_000_000) }).expired_time).toBe(1_900_000_000);
});

test("limits of requests are sent with the rest, and blank ones are lifted", () => {
  expect(toTokenInput({ ...filled, rpm: "60", concurrency: "2" }).limits).toEqual({ rpm: 60, concurrency: 2 });
  expect(toTokenInput(filled).limits).toEqual({});
  expect(checkToken({ ...filled, tpm: "a lot" }, true)).toEqual({ tpm: "badLimit" });
});

test("tokens of a batch get a dash and six letters or digits, the first keeps its name", () => {
  const names = batchNames("ci", 3);
  expect(names[0]).toBe("ci");
  expect(names.slice(1).every((name) => /^ci-[0-9A-Za-z]{6}$/.test(name))).toBe(true);
  expect(new Set(names).size).toBe(3);
});

test("a limit of a period is a budget, and the token itself has no limit", () => {
  const monthly = { ...filled, limit_period: "month", remain_quota: 25_000_000 } as const;
  expect(toTokenBudget(monthly)).toEqual({ period: "month", quota_limit: 25_000_000 });
  expect(toTokenInput(monthly)).toMatchObject({ unlimited_quota: true, remain_quota: 0 });
  expect(toTokenBudget(filled)).toBeUndefined();
  expect(toTokenBudget({ ...monthly, unlimited_quota: true })).toBeUndefined();
  expect(checkToken({ ...monthly, remain_quota: 0 }, true)).toEqual({ remain_quota: "noAmount" });
});

test("models that nothing serves are named with the nearest that something serves", () => {
  const served = ["gpt-4o", "gpt-4o-mini", "claude-sonnet-4"];
  expect(findUnserved(["gpt-4o", "gtp-4o", "llama-70b", "gpt-4-gizmo-*"], served)).toEqual([
    { name: "gtp-4o", meant: ["gpt-4o"] },
    { name: "llama-70b", meant: [] },
  ]);
  expect(findUnserved(["gtp-4o"], [])).toEqual([]);
});
