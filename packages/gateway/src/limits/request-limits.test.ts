import { parseOptions } from "@fairway/wire";
import { expect, test } from "vitest";
import { callClaims, channelClaims, channelLimits, limitsRequests, requestClaims } from "./request-limits.ts";

const createOptions = (rows: Record<string, string>) =>
  parseOptions(Object.entries(rows).map(([key, value]) => ({ key, value })));
const subjects = { userId: 7, tokenId: 3, group: "vip", model: "m", tokens: 500 };

test("without settings nothing is limited", () => {
  expect(limitsRequests(createOptions({}))).toBe(false);
  expect(requestClaims(subjects, createOptions({}))).toEqual([]);
});

test("own limits: of a user instead of the default, of a token within it", () => {
  const options = createOptions({
    DefaultTokenLimits: '{"rpm":60,"tpm":400}',
    DefaultUserLimits: '{"rpm":100,"tpm":9000}',
    GroupLimits: '{"vip":{"concurrency":9}}',
    ModelLimits: '{"other":{"rpm":1}}',
    UserConcurrency: "4",
  });
  expect(limitsRequests(options)).toBe(true);
  const own = { tokenLimits: { rpm: 1_000, tpm: 300, concurrency: 7 }, userLimits: { rpm: 200 } };
  expect(requestClaims({ ...subjects, ...own }, options)).toEqual([
    { scope: "token", subject: "3", kind: "requests", limit: 60, amount: 1 },
    { scope: "token", subject: "3", kind: "tokens", limit: 300, amount: 300 },
    { scope: "token", subject: "3", kind: "concurrency", limit: 7, amount: 1 },
    { scope: "user", subject: "7", kind: "requests", limit: 200, amount: 1 },
    { scope: "user", subject: "7", kind: "tokens", limit: 9000, amount: 500 },
    { scope: "user", subject: "7", kind: "concurrency", limit: 4, amount: 1 },
    { scope: "group", subject: "vip", kind: "concurrency", limit: 9, amount: 1 },
  ]);
  const inPlayground = requestClaims({ ...subjects, tokenId: 0 }, options);
  expect(inPlayground.map(({ scope }) => scope)).not.toContain("token");
  expect(requestClaims({ ...subjects, ...own }, createOptions({})).map(({ limit }) => limit)).toEqual([
    1_000, 300, 7, 200,
  ]);
});

test("a name of a group or a model wins over *", () => {
  const options = createOptions({ GroupLimits: '{"*":{"rpm":1},"vip":{"rpm":2}}', ModelLimits: '{"*":{"rpm":3}}' });
  expect(requestClaims(subjects, options).map(({ scope, limit }) => [scope, limit])).toEqual([
    ["group", 2],
    ["model", 3],
  ]);
});

test("a channel and each of its keys have limits in its settings", () => {
  const channel = {
    id: 5,
    setting: { limits: { concurrency: 2 }, key_limits: { rpm: 10 } },
  };
  expect(channelClaims(channel, 1, 100)).toEqual([
    { scope: "channel", subject: "5", kind: "concurrency", limit: 2, amount: 1 },
    { scope: "key", subject: "5.1", kind: "requests", limit: 10, amount: 1 },
  ]);
  const broken = { id: 6, setting: { limits: { rpm: -1 } } };
  expect(channelLimits(broken)).toBeUndefined();
  expect(channelClaims(broken, 0, 100)).toEqual([]);
});

test("limits that make no sense are refused with an example", () => {
  for (const text of ["[]", '{"*":5}', '{"*":{"rpm":0}}', '{"*":{"rpm":1.5}}', '{"*":{"rps":1}}']) {
    let isWarned = false;
    parseOptions([{ key: "GroupLimits", value: text }], { warn: () => void (isWarned = true) });
    expect(isWarned, text).toBe(true);
  }
  for (const text of ["[]", "5", '{"rpm":0}', '{"rps":1}', '{"*":{"rpm":1}}']) {
    let isWarned = false;
    parseOptions([{ key: "DefaultUserLimits", value: text }], { warn: () => void (isWarned = true) });
    expect(isWarned, text).toBe(true);
  }
});

test("model request limits of compatible gateways apply per user, in their own window", () => {
  const on = {
    ModelRequestRateLimitEnabled: "true",
    ModelRequestRateLimitCount: "30",
    ModelRequestRateLimitSuccessCount: "10",
    ModelRequestRateLimitDurationMinutes: "2",
  };
  const base = { scope: "user", subject: "7", amount: 1, minutes: 2 };
  expect(callClaims(7, createOptions(on))).toEqual([
    { ...base, kind: "requests", limit: 30 },
    { ...base, kind: "successes", limit: 10 },
  ]);
  expect(requestClaims(subjects, createOptions(on))).toEqual(callClaims(7, createOptions(on)));
  expect(limitsRequests(createOptions(on))).toBe(true);
  expect(callClaims(7, createOptions({ ...on, ModelRequestRateLimitEnabled: "false" }))).toEqual([]);
  const off = { ...on, ModelRequestRateLimitCount: "0", ModelRequestRateLimitSuccessCount: "0" };
  expect(callClaims(7, createOptions(off))).toEqual([]);
});
