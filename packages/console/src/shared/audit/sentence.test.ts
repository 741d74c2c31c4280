import { expect, test } from "vitest";
import { sentenceOf } from "./sentence.ts";

const row = (action: string, target: string, new_value: string | null, old_value: string | null = null) => ({
  action,
  target,
  new_value,
  old_value,
});

test("a call reads as verb, noun and name", () => {
  expect(sentenceOf(row("tokenCreate", "", '{"name":"build-bot"}'))).toEqual({
    verb: "didCreate",
    noun: "nounToken",
    name: "build-bot",
  });
  expect(sentenceOf(row("userUpdate", "user 4", '{"username":"ada"}'))).toMatchObject({
    noun: "nounUser",
    name: "ada",
  });
});

test("what was deleted has the name of before, and what has none its number", () => {
  expect(sentenceOf(row("channelDelete", "channel 7", null, '{"name":"quay"}'))?.name).toBe("quay");
  expect(sentenceOf(row("channelDelete", "channel 7", null))?.name).toBe("7");
});

test("the longest beginning and end count", () => {
  expect(sentenceOf(row("accessTokenCreate", "", null))?.noun).toBe("nounAccessToken");
  expect(sentenceOf(row("tokenSetStatus", "token 3", null))?.verb).toBe("didSwitch");
});

test("a call without words has no sentence", () => {
  expect(sentenceOf(row("declarativeApply", "", null))).toBeUndefined();
});
