import type { LogRow } from "@fairway/wire";
import { expect, test } from "vitest";
import { explainCharge } from "./charge.ts";
import { durationGrade, firstTokenGrade } from "../grades.ts";
import { readOther } from "../other.ts";

const row: LogRow = {
  id: 1,
  user_id: 1,
  created_at: 0,
  type: 2,
  content: "",
  username: "",
  token_name: "",
  model_name: "gpt-4o",
  quota: 8_649,
  prompt_tokens: 1_163,
  completion_tokens: 1_439,
  use_time: 2,
  is_stream: false,
  channel: 1,
  channel_name: "",
  token_id: 1,
  group: "",
  ip: "",
  request_id: "",
  tags: "",
  end_user: "",
  other: "",
};

test("tokens are priced per million from the ratios of the row", () => {
  const other = readOther('{"model_ratio":1.25,"completion_ratio":4,"group_ratio":0.8,"model_price":-1}');
  expect(explainCharge(row, other, 500_000)).toMatchObject({
    kind: "tokens",
    groupRatio: 0.8,
    lines: [
      { part: "lineInput", tokens: 1_163, perMillion: 2.5 },
      { part: "lineOutput", tokens: 1_439, perMillion: 10 },
    ],
  });
});

test("cached and written tokens are taken out of the plain input", () => {
  const other = readOther(
    '{"model_ratio":1,"completion_ratio":1,"cache_tokens":1000,"cache_ratio":0.1,"cache_creation_tokens":100,"cache_creation_ratio":1.25}',
  );
  const charge = explainCharge(row, other, 500_000);
  expect(charge?.kind === "tokens" && charge.lines.slice(0, 3)).toEqual([
    { part: "lineInput", tokens: 63, perMillion: 2 },
    { part: "lineCached", tokens: 1_000, perMillion: 0.2 },
    { part: "lineCacheWrite", tokens: 100, perMillion: 2.5 },
  ]);
});

test("a price per call wins over ratios", () => {
  expect(explainCharge(row, readOther('{"model_price":0.04,"group_ratio":2,"model_ratio":0}'), 500_000)).toMatchObject({
    kind: "call",
    price: 0.04,
    groupRatio: 2,
  });
});

test("bad data in a row explains nothing and breaks nothing", () => {
  for (const text of ["", "null", "[1]", "{", '{"model_ratio":"x","admin_info":7}']) {
    const other = readOther(text);
    expect(explainCharge(row, other, 500_000)).toBeUndefined();
    expect(other.admin_info?.use_channel ?? []).toEqual([]);
  }
});

test("the retry chain is read as texts, numbers included", () => {
  expect(readOther('{"admin_info":{"use_channel":["4",7]}}').admin_info?.use_channel).toEqual(["4", "7"]);
});

test("durations are graded at the bounds of the contract (C-317)", () => {
  expect([100, 101, 299, 300].map(durationGrade)).toEqual(["green", "orange", "orange", "red"]);
  expect([2_999, 3_000, 9_999, 10_000].map(firstTokenGrade)).toEqual(["green", "orange", "orange", "red"]);
});

test("repeated answers and verdicts of the guardrail are read, foreign ones are none", () => {
  const repeated = readOther('{"cache_hit":true,"cache_age":125}');
  expect([repeated.cache_hit, repeated.cache_age, repeated.guardrail]).toEqual([true, 125, undefined]);
  const blocked = readOther('{"guardrail":"block","admin_info":{"guardrail_reason":"insults"}}');
  expect([blocked.cache_hit, blocked.guardrail, blocked.admin_info?.guardrail_reason]).toEqual([
    false,
    "block",
    "insults",
  ]);
  expect(readOther('{"guardrail":"maybe","cache_hit":"yes","model_ratio":2}')).toMatchObject({
    guardrail: undefined,
    cache_hit: false,
    model_ratio: 2,
  });
});

test.each([
  ["rounding", '{"model_ratio":1.25,"completion_ratio":4,"group_ratio":0.333}', 1163 * 1.25 + 1439 * 5, true],
  ["tools", '{"model_ratio":1,"completion_ratio":1,"group_ratio":1}', 1163 + 1439 + 5000, false],
  ["several images", '{"model_price":0.04,"group_ratio":0.5}', 4 * 0.04 * 500_000, false],
  ["nothing", '{"model_ratio":1,"completion_ratio":1,"group_ratio":2}', 1163 + 1439, true],
] as const)("the lines add to the total: %s", (_name, text, units, isRounding) => {
  const other = readOther(text);
  const quota = Math.round(units * other.group_ratio);
  const charge = explainCharge({ ...row, quota }, other, 500_000);
  if (!charge) throw new Error("no charge");
  const lines =
    charge.kind === "call"
      ? charge.price
      : charge.lines.reduce((sum, { tokens, perMillion }) => sum + (tokens * perMillion) / 1e6, 0);
  expect(lines + charge.byGroup + charge.rest).toBeCloseTo(quota / 500_000, 12);
  expect(charge.isRounding).toBe(isRounding);
});
