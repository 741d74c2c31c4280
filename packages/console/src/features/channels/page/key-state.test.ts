import type { ChannelHealth, ChannelKey } from "@fairway/wire";
import { expect, test } from "vitest";
import { keyLines } from "./key-state.ts";

function key(index: number, status = 1): ChannelKey {
  return { index, hint: "x9Qk", status, reason: "", time: 0 };
}

function health(index: number, state: ChannelHealth["state"], channel = 7): ChannelHealth {
  return { channel_id: channel, key_index: index, state, model: "", wait_ms: 0, consecutive_failures: 0 };
}

test("keys in trouble come first, then those that are off", () => {
  const lines = keyLines(7, [key(0), key(1), key(2, 3), key(3)], [health(3, "resting"), health(1, "open")]);
  expect(lines.map(({ index }) => index)).toEqual([1, 3, 2, 0]);
});

test("a key has all its troubles, the worst first, and none of another channel", () => {
  const [line] = keyLines(7, [key(0)], [health(0, "resting"), health(0, "failing"), health(0, "open", 8)]);
  expect(line?.troubles.map(({ state }) => state)).toEqual(["failing", "resting"]);
});
