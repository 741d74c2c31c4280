import { expect, test } from "vitest";
import { listEffects, modelsRepriced } from "./effects.ts";

test("a model ratio reads as the price of input, with how many times it becomes", () => {
  const lines = listEffects("ModelRatio", '{"gpt-4o":1.25,"same":1}', '{"gpt-4o":2,"same":1,"new":0.075}');
  expect(lines).toEqual([
    { name: "gpt-4o", before: "$2.5 / 1M", after: "$4 / 1M", times: 1.6 },
    { name: "new", before: null, after: "$0.15 / 1M", times: undefined },
  ]);
});

test("a table that was empty gains its members", () => {
  expect(listEffects("GroupRatio", "", '{"vip":0.5}')).toEqual([
    { name: "vip", before: null, after: "0.5", times: undefined },
  ]);
});

test("a single value changes as a whole", () => {
  expect(listEffects("RetryTimes", "2", "3")).toEqual([{ name: "", before: "2", after: "3", times: 1.5 }]);
  expect(listEffects("SystemName", "Fairway", "Harbour")).toEqual([
    { name: "", before: "Fairway", after: "Harbour", times: undefined },
  ]);
  expect(listEffects("RetryTimes", "0", "3")[0]?.times, "nothing is a multiple of 0").toBeUndefined();
  expect(listEffects("RetryTimes", "-1", "3")[0]?.times, "nor of a negative number").toBeUndefined();
});

test("repriced models are named once, and other tables reprice none", () => {
  const stored = { ModelRatio: '{"a":1,"b":2}', CompletionRatio: "{}", GroupRatio: '{"vip":1}' };
  const changes = { ModelRatio: '{"a":2,"b":2}', CompletionRatio: '{"a":4,"c":3}', GroupRatio: '{"vip":2}' };
  expect(modelsRepriced(changes, stored)).toEqual(["a", "c"]);
});
