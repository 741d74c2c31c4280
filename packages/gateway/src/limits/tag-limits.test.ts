import fc from "fast-check";
import { propertyRuns } from "@fairway/testkit/property-runs";
import { MAX_COUNTED_VALUES, parseOptions, type TagLimits } from "@fairway/wire";
import { expect, test } from "vitest";
import { requestClaims } from "./request-limits.ts";
import { tagClaims } from "./tag-limits.ts";

const LIMITS: TagLimits = {
  end_user: { "*": { rpm: 20 }, "42": { blocked: true }, vip: {} },
  app: { shop: { tpm: 100, concurrency: 2 } },
};
const own = [{ owner: "t17", limits: LIMITS }];

test("a value that is named has its own limits, others those of *, and unnamed keys none", () => {
  const oneOf = { list: "t17/end_user", most: MAX_COUNTED_VALUES, others: "t17/~other" };
  expect(tagClaims({ text: "app=shop|env=prod", endUser: "7", own })).toEqual([
    { scope: "tag", subject: "t17/app=shop", limit: { tpm: 100, concurrency: 2 } },
    { scope: "end_user", subject: "t17/7", limit: { rpm: 20 }, oneOf },
  ]);
  expect(tagClaims({ text: "app=crm", endUser: "vip", own })).toEqual([
    { scope: "end_user", subject: "t17/vip", limit: {} },
  ]);
  expect(tagClaims({ text: "", endUser: "", own })).toEqual([]);
});

test("names that objects inherit, the star itself, and a tag that is called end_user are no entries", () => {
  for (const endUser of ["constructor", "__proto__", "toString", "*"])
    expect(tagClaims({ text: "", endUser, own })).toMatchObject([
      { limit: { rpm: 20 }, oneOf: { list: "t17/end_user" } },
    ]);
  expect(tagClaims({ text: "constructor=a|end_user=42", endUser: "", own })).toEqual([]);
});

test("those of the token and of its account both count", () => {
  const both = [...own, { owner: "u5", limits: { app: { "*": { rpm: 9 } } } }];
  const subjects = { userId: 5, tokenId: 17, group: "g", model: "m", tokens: 500 };
  const tagged = { text: "app=shop", endUser: "7", own: both };
  const claims = requestClaims({ ...subjects, tagged }, parseOptions([]));
  expect(claims.map(({ subject, kind, limit, amount }) => [subject, kind, limit, amount])).toEqual([
    ["t17/app=shop", "tokens", 100, 100],
    ["t17/app=shop", "concurrency", 2, 1],
    ["t17/7", "requests", 20, 1],
    ["u5/app=shop", "requests", 9, 1],
  ]);
  expect(claims.map(({ oneOf }) => oneOf?.list)).toEqual([undefined, undefined, "t17/end_user", "u5/app"]);
});

test("two values never share a counter, whatever they are", () => {
  const value = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
  const subject = (endUser: string) => tagClaims({ text: "", endUser, own })[0]?.subject;
  fc.assert(
    fc.property(value, value, (one, other) => {
      expect(subject(one) === subject(other)).toBe(one === other);
    }),
    { numRuns: propertyRuns(200) },
  );
});
