import {
  fill,
  MESSAGE_CODES,
  MESSAGES,
  messageText,
  OPTION_KEYS,
  OPTIONS,
  REASONS,
  type MessageKey,
} from "@fairway/wire";
import { expect, test } from "vitest";
import { inChinese, messages } from "./server-messages.zh.ts";
import { ruleInChinese } from "./server-rules.zh.ts";

const KEYS = Object.keys(MESSAGE_CODES) as MessageKey[];
const places = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "").toSorted();
const HAN = /\p{Script=Han}/u;

test("every message code has an English and a Chinese text with the same places", () => {
  expect(Object.keys(messages).toSorted()).toEqual(KEYS.toSorted());
  for (const key of KEYS) {
    expect(MESSAGES[key].text, key).not.toBe("");
    expect(messages[key], key).toMatch(HAN);
    expect(places(messages[key]), key).toEqual(places(MESSAGES[key].text));
  }
});

test("values of the message reach the Chinese text", () => {
  const taken = messageText("group_not_found", { g: "vip (old)" });
  expect(inChinese("group_not_found", taken)).toBe("分组 vip (old) 不存在。");
  const managed = messageText("entity_managed", { kind: "channel", name: "a", owner: "fleet" });
  expect(inChinese("entity_managed", managed)).toBe("channel a 由 fleet 管理，请在那里修改。");
});

test("rules inside of messages are Chinese too", () => {
  const text = messageText("option_value_invalid", { key: "RetryTimes", rule: "an integer not below 0" });
  expect(inChinese("option_value_invalid", text)).toBe("RetryTimes 的值须为不小于 0 的整数。");
  const field = messageText("invalid_field", { field: "name", reason: fill(REASONS.tooLong, { n: 191 }) });
  expect(inChinese("invalid_field", field)).toBe("输入无效：name 过长，请缩短到 191 个字符以内。");
});

test("a text that is not the message of its code stays as it was sent", () => {
  expect(inChinese("user_not_found", "something else")).toBe("something else");
});

test("every rule of the options has a Chinese text", () => {
  // None of these texts is valid for an option that has a rule, whatever its type.
  const wrong = ["\u0000", "{", '{"a":"b"}', '{"a":{"b":1}}', "[1]", "javascript:x", "-1", "x".repeat(600_000)];
  const rules = new Set(
    OPTION_KEYS.flatMap((key) =>
      wrong.flatMap((text) => {
        const reading = OPTIONS[key].type.read(text);
        return reading.isValid || reading.rule === undefined ? [] : [reading.rule];
      }),
    ),
  );
  expect(rules.size).toBeGreaterThan(8);
  const untranslated = [...rules].filter((rule) => ruleInChinese(rule) === rule);
  expect(untranslated).toEqual([]);
});
