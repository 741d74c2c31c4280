import { affinityRulesType, DEFAULT_AFFINITY_RULES, type AffinityRule } from "@fairway/wire";
import { describe, expect, test } from "vitest";
import { createPriceBook } from "../../billing/pricing/price-book.ts";
import type { Price } from "../../billing/pricing/price.ts";
import { findConversation, type ConversationInput } from "./conversation.ts";
import { jsonBody } from "../body/read-body.ts";

const cached = { kind: "tokens", cacheRatio: 0.1 } as Price;
const spoken = (json: object, more: Partial<ConversationInput> = {}): ConversationInput => ({
  userId: 1,
  tokenId: 5,
  group: "default",
  model: "m",
  path: "/v1/chat/completions",
  body: jsonBody(Buffer.from(JSON.stringify(json))),
  headers: {},
  price: undefined,
  ...more,
});

function parseRules(text: string): readonly AffinityRule[] {
  const read = affinityRulesType.read(text);
  if (!read.isValid) throw new Error(read.rule);
  return read.value;
}

const defaults = parseRules(DEFAULT_AFFINITY_RULES);
const findConversationName = (request: ConversationInput, rules = defaults) => findConversation(request, rules)?.name;
const findRuleName = (request: ConversationInput) => findConversation(request, defaults)?.rule.name;

describe("the conversation of a request, by the default rules", () => {
  test("is named by the client", () => {
    const session = "0f8fad5b-d9cb-469f-a165-70867728950e";
    const claude = { path: "/v1/messages" };
    expect(findRuleName(spoken({ prompt_cache_key: "abc" }))).toBe("named");
    expect(findRuleName(spoken({ prompt_cache_key: "abc" }, { path: "/v1/responses", model: "gpt-5" }))).toBe("codex");
    expect(findRuleName(spoken({}, { ...claude, headers: { "x-claude-code-session-id": session } }))).toBe(
      "claude code",
    );
    const inBody = { metadata: { user_id: `user_1_account__session_${session}` } };
    expect(findConversationName(spoken(inBody, claude))).toBe(
      findConversationName(spoken({}, { ...claude, headers: { "x-claude-code-session-id": session } })),
    );
    expect(findConversationName(spoken({ prompt_cache_key: "abc", messages: ["other"] }))).toBe(
      findConversationName(spoken({ prompt_cache_key: "abc" })),
    );
  });

  test("differs for other users and models", () => {
    const mine = findConversationName(spoken({ prompt_cache_key: "abc" }));
    expect(findConversationName(spoken({ prompt_cache_key: "abc" }, { userId: 2 }))).not.toBe(mine);
    expect(findConversationName(spoken({ prompt_cache_key: "abc" }, { model: "other" }))).not.toBe(mine);
    expect(findConversationName(spoken({ prompt_cache_key: "abcd" }))).not.toBe(mine);
  });

  test("is its user or the beginning of a long prompt, where cached input is cheaper", () => {
    const long = "word ".repeat(2_000);
    expect(findConversationName(spoken({ user: "u" }))).toBeUndefined();
    expect(findRuleName(spoken({ user: "u" }, { price: cached }))).toBe("cached input");
    const first = findConversationName(spoken({ messages: [long] }, { price: cached }));
    expect(first).toBeDefined();
    expect(findConversationName(spoken({ messages: [long, "and more"] }, { price: cached }))).toBe(first);
    expect(findConversationName(spoken({ messages: ["short"] }, { price: cached }))).toBeUndefined();
    expect(findConversationName(spoken({ messages: [long] }))).toBeUndefined();
  });

  test("is undefined for invalid names", () => {
    for (const key of ["", true, null, "x".repeat(513), { a: 1 }])
      expect(findConversationName(spoken({ prompt_cache_key: key }))).toBeUndefined();
    for (const metadata of [null, "x", { user_id: 5 }, { user_id: "no" }, { toString: 1 }])
      expect(findConversationName(spoken({ metadata }, { path: "/v1/messages" }))).toBeUndefined();
  });

  test("the price book knows current models with a price for cached input", () => {
    const price = createPriceBook().find("gpt-4o");
    expect(price?.kind === "tokens" && price.cacheRatio < 1).toBe(true);
  });
});

describe("rules of the operator", () => {
  const rule = (more: object) =>
    parseRules(JSON.stringify([{ name: "own", key_sources: [{ type: "json", path: "a.b" }], ...more }]));

  test("find names in headers, members, tokens and users; the first source that has one is taken", () => {
    expect(findConversationName(spoken({ a: { b: 7 } }), rule({}))).toBe(
      findConversationName(spoken({ a: { b: "7" } }), rule({})),
    );
    expect(findConversationName(spoken({ a: [] }), rule({}))).toBeUndefined();
    const inList = rule({ key_sources: [{ type: "json", path: "messages.0.id" }] });
    expect(findConversationName(spoken({ messages: [{ id: "x" }] }), inList)).toBeDefined();
    expect(findConversationName(spoken({ messages: [] }), inList)).toBeUndefined();
    const sources = rule({ key_sources: [{ type: "header", name: "X-Talk" }, { type: "token" }] });
    const named = findConversationName(spoken({}, { headers: { "x-talk": "1" } }), sources);
    const byToken = findConversationName(spoken({}), sources);
    expect(new Set([named, byToken, findConversationName(spoken({}, { tokenId: 6 }), sources)]).size).toBe(3);
    expect(findConversationName(spoken({}, { tokenId: 0 }), sources)).toBeUndefined();
    expect(findConversationName(spoken({}, { tokenId: 6 }), rule({ key_sources: [{ type: "user" }] }))).toBe(
      findConversationName(spoken({}), rule({ key_sources: [{ type: "user" }] })),
    );
  });

  test("apply to their models and paths, and separate conversations as configured", () => {
    const bounded = rule({ model_regex: ["^gpt", "^o\\d"], path_regex: ["/chat/"] });
    const talk = { a: { b: "1" } };
    expect(findConversationName(spoken(talk, { model: "o3" }), bounded)).toBeDefined();
    expect(findConversationName(spoken(talk, { model: "claude" }), bounded)).toBeUndefined();
    expect(findConversationName(spoken(talk, { model: "o3", path: "/v1/responses" }), bounded)).toBeUndefined();
    const loose = rule({ include_model: false, include_rule: false });
    expect(findConversationName(spoken(talk, { model: "x" }), loose)).toBe(
      findConversationName(spoken(talk, { model: "y" }), loose),
    );
    expect(findConversationName(spoken(talk, { group: "vip" }), rule({ include_group: true }))).not.toBe(
      findConversationName(spoken(talk), rule({ include_group: true })),
    );
  });

  test("that are invalid are refused with the rule and the member", () => {
    const fault = (text: string) => {
      const read = affinityRulesType.read(text);
      return read.isValid ? "" : read.rule;
    };
    expect(fault("{}")).toBe("a JSON array of at most 50 rules");
    expect(fault("[5]")).toBe("affinity rules; in rule 1 it is not an object");
    const sources = { key_sources: [{ type: "user" }] };
    const wrong = (more: object) =>
      fault(
        JSON.stringify([
          { name: "a", ...sources },
          { name: "b", ...sources, ...more },
        ]),
      );
    expect(wrong({})).toBe("");
    expect(wrong({ name: "" })).toBe("affinity rules; in rule 2 name is missing");
    expect(wrong({ models: [] })).toBe("affinity rules; in rule 2 models is unknown");
    expect(wrong({ model_regex: ["("] })).toBe("affinity rules; in rule 2 model_regex is not a list of patterns");
    for (const key_sources of [[], [{ type: "ip" }], [{ type: "header" }], [{ type: "json", path: "a", pattern: "[" }]])
      expect(wrong({ key_sources })).toBe("affinity rules; in rule 2 key_sources is not a list of sources");
    expect(wrong({ ttl_seconds: 0 })).toBe("affinity rules; in rule 2 ttl_seconds is not from 1 to 604800");
    expect(wrong({ include_model: "no" })).toBe("affinity rules; in rule 2 include_model is not true or false");
  });
});
