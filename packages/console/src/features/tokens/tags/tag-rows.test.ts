import { expect, test } from "vitest";
import { findPolicyFaults, hasWrongTags, NO_TAGS, policyRows, policyText, toTags, toTagsDraft } from "./tag-rows.ts";

const TOKEN = {
  fixed_tags: { app: "shop" },
  tags: {
    keys: { env: { values: ["prod", "test"], strict: true, default: "prod" }, team: { required: true } },
    end_user: "required",
  },
} as const;

test("a token's tags are the same after they were shown as rows", () => {
  const draft = toTagsDraft(TOKEN as never);
  const rows = policyRows(draft.tag_keys) ?? [];
  expect(rows).toEqual([
    { key: "env", values: "prod, test", usual: "prod", strict: "true", required: "" },
    { key: "team", values: "", usual: "", strict: "", required: "true" },
  ]);
  expect(toTags({ ...draft, tag_keys: policyText(rows) })).toEqual(TOKEN);
  expect(toTags(NO_TAGS)).toEqual({ fixed_tags: {}, tags: {} });
  expect(toTags({ ...NO_TAGS, tag_users: "off" }).tags).toEqual({ end_user: "off" });
});

test("keys and values that cannot be tags are marked, and not saved", () => {
  expect(findPolicyFaults({ key: "Env", values: "a=b", usual: "x|y" })).toEqual(["key", "values", "usual"]);
  expect(findPolicyFaults({ key: "", values: "", usual: "" })).toEqual([]);
  expect(findPolicyFaults({ key: "", values: "shop" })).toEqual(["key"]);
  expect(findPolicyFaults({ key: "env", values: "shop, crm", usual: "shop" })).toEqual([]);
  expect(hasWrongTags({ ...NO_TAGS, fixed_tags: '{"App":"shop"}' })).toBe(true);
  expect(hasWrongTags({ ...NO_TAGS, fixed_tags: '{"app":"a=b"}' })).toBe(true);
  expect(hasWrongTags({ ...NO_TAGS, tag_keys: policyText([{ key: "Env" }]) })).toBe(true);
  expect(hasWrongTags(toTagsDraft(TOKEN as never))).toBe(false);
});
