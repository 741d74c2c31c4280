import type { ChannelHealth } from "@fairway/wire";
import { expect, test } from "vitest";
import { findTrouble } from "./trouble.ts";

function health(id: number, state: ChannelHealth["state"], change: Partial<ChannelHealth> = {}): ChannelHealth {
  return { channel_id: id, key_index: 0, state, model: "", wait_ms: 0, consecutive_failures: 1, ...change };
}

function usage(id: number, calls: number, errors: number) {
  return { subject: String(id), name: `channel ${id}`, calls, errors };
}

const NOTHING = { disabled: [], health: [], usage: [] };

test("channels without a finding are not listed", () => {
  expect(findTrouble({ ...NOTHING, usage: [usage(1, 1_000, 20)], health: [health(1, "chat-only")] })).toEqual([]);
});

test("the worst comes first, each channel once", () => {
  const found = findTrouble({
    disabled: [{ id: 4, name: "four", other_info: '{"status_reason":"401 invalid key","status_time":7}' }],
    health: [health(3, "resting"), health(2, "open"), health(4, "open"), health(2, "resting", { key_index: 1 })],
    usage: [usage(5, 10, 5), usage(2, 10, 9), usage(4, 3, 3)],
  });
  expect(found.map(({ id, kind }) => [id, kind])).toEqual([
    [4, "disabled"],
    [2, "open"],
    [5, "errors"],
    [3, "resting"],
  ]);
  expect(found[0]).toMatchObject({ name: "four", reason: "401 invalid key", at: 7, errors: 3 });
  expect(found[3]?.name).toBe("#3");
});

test("keys are counted once, and the first retry is named", () => {
  const keys = [
    health(1, "open", { key_index: 0, wait_ms: 9_000 }),
    health(1, "half-open", { key_index: 1, wait_ms: 4_000 }),
    health(1, "open", { key_index: 1, wait_ms: 5_000, model: "o3" }),
  ];
  expect(findTrouble({ ...NOTHING, health: keys })).toMatchObject([{ kind: "open", keys: 2, waitMs: 4_000 }]);
});

test("a few failures among many calls are no trouble", () => {
  expect(findTrouble({ ...NOTHING, usage: [usage(1, 2, 2), usage(2, 100, 4)] })).toEqual([]);
  expect(findTrouble({ ...NOTHING, usage: [usage(2, 100, 5)] })).toMatchObject([{ kind: "errors" }]);
});
