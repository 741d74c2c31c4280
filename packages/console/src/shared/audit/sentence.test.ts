import * as wire from "@fairway/wire";
import type { Endpoint } from "@fairway/wire";
import { expect, test } from "vitest";
import { CALLS } from "./calls.ts";
import { buildSentence } from "./sentence.ts";

const row = (action: string, target: string, new_value: string | null, old_value: string | null = null) => ({
  action,
  target,
  new_value,
  old_value,
});

const SIGNED_IN: ReadonlySet<string> = new Set(["user", "admin", "root"]);

function isEndpoint(value: unknown): value is Endpoint {
  return typeof value === "object" && value !== null && "method" in value && "access" in value;
}

test("a call reads as verb, noun and name", () => {
  expect(buildSentence(row("tokenCreate", "", '{"name":"build-bot"}'))).toEqual({
    verb: "didCreate",
    noun: "nounToken",
    name: "build-bot",
  });
  expect(buildSentence(row("userUpdate", "user 4", '{"username":"ada"}'))).toMatchObject({
    noun: "nounUser",
    name: "ada",
  });
});

test("what was deleted has the name of before, and what has none its number", () => {
  expect(buildSentence(row("channelDelete", "channel 7", null, '{"name":"quay"}'))?.name).toBe("quay");
  expect(buildSentence(row("channelDelete", "channel 7", null))?.name).toBe("7");
});

test("the longest beginning and end count", () => {
  expect(buildSentence(row("accessTokenCreate", "", null))).toMatchObject({ noun: "nounAccessToken" });
  expect(buildSentence(row("tokenSetStatus", "token 3", null))).toMatchObject({ verb: "didSwitch" });
  expect(buildSentence(row("teamSavedReportCreate", "", null))).toMatchObject({ noun: "nounReport" });
});

test("calls that fit no pattern have words of their own", () => {
  expect(buildSentence(row("declarativeApply", "", null))).toEqual({ words: "appliedDocuments", name: "" });
  expect(buildSentence(row("userTwoFactorReset", "user 4", '{"username":"ada"}'))).toEqual({
    words: "resetFactor",
    name: "ada",
  });
});

/** Writing methods that change nothing: they have no row in the audit log. */
const READS = new Set([
  "channelModelsOf",
  "compatiblePasskeyBegin",
  "declarativePlan",
  "passkeyOptions",
  "pricePreview",
  "selfInviteCode",
  "stripeAmount",
  "tokenFind",
  "tokenKey",
  "teamTokenKey",
  "tokenKeys",
  "walletAmount",
]);

test("every write by a user who is signed in has a sentence", () => {
  const writes = (Object.values(wire) as unknown[])
    .filter((value) => isEndpoint(value))
    .filter(({ access, method, hasEffects }) => SIGNED_IN.has(access) && (method !== "GET" || hasEffects))
    .map(({ name }) => name);
  expect(writes.length).toBeGreaterThan(60);
  const wordless = writes.filter((name) => !READS.has(name) && buildSentence(row(name, "", null)) === undefined);
  expect(wordless).toEqual([]);
  expect(Object.keys(CALLS).filter((name) => !writes.includes(name))).toEqual([]);
});

test("a call of a later release has no sentence", () => {
  expect(buildSentence(row("harbourDredge", "", null))).toBeUndefined();
});
