import { expect, test } from "vitest";
import { markKey } from "../snapshot/key-marks.ts";
import { countByKey } from "./count-by-key.ts";

const hashKey = (key: string) => `hash of ${key}`.padEnd(20, "-");

test("requests count for the key that serves them now, and for no other channel", () => {
  const attempt = (id: number, keyIndex: number) => ({ target: { channel: { id, keys: ["a", "b"] }, keyIndex } });
  const requests = [
    { tried: [attempt(1, 0), attempt(1, 1)] },
    { tried: [attempt(1, 1)] },
    { tried: [attempt(1, 0), attempt(2, 0)] },
    { tried: [] },
    {},
  ];
  expect([...countByKey(requests, { channelId: 1, hashKey })]).toEqual([[markKey("b", hashKey), 2]]);
  expect([...countByKey(requests, { channelId: 2, hashKey })]).toEqual([[markKey("a", hashKey), 1]]);
  expect([...countByKey(requests, { channelId: 3, hashKey })]).toEqual([]);
});
