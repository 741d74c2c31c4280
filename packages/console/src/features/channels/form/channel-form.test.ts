import { expect, test } from "vitest";
import { checkChannel, countKeys, EMPTY_CHANNEL, toChannelInput } from "./channel-form.ts";
import { statusInfo } from "../../../lib/text/status-info.ts";
import { responseGrade } from "../response-grade.ts";

const filled = { ...EMPTY_CHANNEL, name: "main", key: "sk-1", models: ["gpt-4o"] };

test("a new channel needs a name, a key and a model", () => {
  expect(checkChannel(EMPTY_CHANNEL, true)).toEqual({ name: "nameAndKey", key: "nameAndKey", models: "oneModel" });
  expect(checkChannel(filled, true)).toEqual({});
});

test("an existing channel keeps its key when none is entered", () => {
  expect(checkChannel({ ...filled, key: "" }, false)).toEqual({});
});

test("mappings must be JSON objects or empty", () => {
  expect(checkChannel({ ...filled, model_mapping: '{"a":"b"}' }, true)).toEqual({});
  for (const text of ["{", "[]", "1"])
    expect(checkChannel({ ...filled, model_mapping: text }, true)).toEqual({ model_mapping: "badMapping" });
});

test("priority and weight are whole numbers within their bounds", () => {
  expect(checkChannel({ ...filled, priority: "-999", weight: "0" }, true)).toEqual({});
  expect(checkChannel({ ...filled, priority: "-1000", weight: "1.5" }, true)).toEqual({
    priority: "badPriority",
    weight: "badWeight",
  });
});

test("the cost ratio is a decimal number from 0", () => {
  for (const text of ["0", "1", " 0.75 "]) expect(checkChannel({ ...filled, cost_ratio: text }, true)).toEqual({});
  for (const text of ["", "-1", "cheap", "1e3"])
    expect(checkChannel({ ...filled, cost_ratio: text }, true)).toEqual({ cost_ratio: "badCostRatio" });
  expect(toChannelInput({ ...filled, cost_ratio: " 0.75 " }).cost_ratio).toBe(0.75);
});

test("what is sent has comma lists and no trailing slash", () => {
  const input = toChannelInput({
    ...filled,
    base_url: "https://api.example.com//",
    models: ["a", "b"],
    auto_ban: false,
  });
  expect(input).toMatchObject({
    type: 1,
    base_url: "https://api.example.com",
    models: "a,b",
    group: "default",
    auto_ban: 0,
  });
});

test("keys are counted by line, a JSON key is one", () => {
  const document = '{\n"type": "service_account"\n}';
  const keys = ["", "a", "a\n\n b \n", "a\r\nb\r\n", document, '{"a":1}\n{"b":2}'];
  expect(keys.map((text) => countKeys(text))).toEqual([0, 1, 2, 2, 1, 2]);
  expect(countKeys(`${document}\n`, true)).toBe(1);
});

test("the reason of a disabled channel is read, bad text says nothing", () => {
  expect(statusInfo('{"status_reason":"401","status_time":5}')).toEqual({ reason: "401", at: 5 });
  for (const text of ["", "null", "{"]) expect(statusInfo(text)).toEqual({ reason: "", at: undefined });
});

test("response times are graded at the bounds of the contract (C-218)", () => {
  expect([0, 1, 1_000, 1_001, 3_000, 3_001, 5_000, 5_001].map(responseGrade)).toEqual([
    "grey",
    "green",
    "green",
    "lime",
    "lime",
    "yellow",
    "yellow",
    "red",
  ]);
});
