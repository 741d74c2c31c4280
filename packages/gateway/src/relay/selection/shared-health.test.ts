import { expect, test, vi } from "vitest";
import { createSharedHealth } from "./shared-health.ts";

test("replicas share what they learn about an upstream and publish it only once", () => {
  const sent: string[] = [];
  const opened: [number, boolean][] = [];
  const replica = (now: number) =>
    createSharedHealth({
      clock: { now: () => now },
      onBreaker: (id, isOpen) => void opened.push([id, isOpen]),
      onAffinity: () => {},
    });
  // Their clocks differ by an hour.
  const [a, b] = [replica(1_000_000), replica(4_600_000)];
  a.publishBy((text) => void sent.push(text));
  b.publishBy(() => {
    throw new Error("a remote change is published again");
  });
  a.cooldowns.rest(1, 0, "m", 7_000);
  for (let at = 0; at < 5; at += 1) a.breakers.observe(2, 1, "failed");
  a.affinity.served("talk", { channelId: 2, keyIndex: 1 }, 60_000);
  expect(a.prefixes.seen("abc", 60_000)).toBe(false);
  a.sticky.served("talk model", { model: "other", reason: "timeout" }, 60_000);
  for (const text of sent) b.receive(text);
  expect(b.prefixes.seen("abc", 60_000)).toBe(true);
  expect(b.sticky.find("talk model")).toMatchObject({ model: "other", reason: "timeout" });
  expect(b.affinity.find("talk")).toMatchObject({ channelId: 2, keyIndex: 1 });
  expect(b.cooldowns.until(1, 0, "m")).toBe(4_607_000);
  expect(b.breakers.until(2, 1)).toBe(4_610_000);
  expect(opened).toEqual([[2, true]]);
});

test("invalid messages change nothing", () => {
  const health = createSharedHealth({ clock: { now: () => 1_000 }, onBreaker: () => {}, onAffinity: () => {} });
  for (const text of ["", "[]", "null", "{}", '{"channel":-1,"key":0,"forMs":1}', '{"channel":1,"key":0,"forMs":"x"}'])
    health.receive(text);
  expect(health.breakers.states()).toEqual([]);
  expect(health.cooldowns.resting()).toEqual([]);
});

test("the health of a channel is reset when its keys or address change, and only then", () => {
  const health = createSharedHealth({ clock: { now: () => 1_000 }, onBreaker: () => {}, onAffinity: () => {} });
  const upstream = { type: 1, keys: ["a", "b"], baseUrl: "https://one.example" };
  health.follow(new Map([1, 2, 3, 4].map((id) => [id, { ...upstream }])));
  for (const id of [1, 2, 3, 4]) {
    health.breakers.applyRemote(id, 0, 20_000);
    health.cooldowns.applyRemote(id, 1, "m", 20_000);
  }
  health.follow(
    new Map([
      [1, { ...upstream }],
      [2, { ...upstream, keys: ["b"] }],
      [3, { ...upstream, baseUrl: "https://two.example" }],
    ]),
  );
  expect(health.breakers.states().map(({ channelId }) => channelId)).toEqual([1]);
  expect(health.cooldowns.resting().map(({ channelId }) => channelId)).toEqual([1]);
});

test("a later answer without a time does not shorten a rest", () => {
  let now = 1_000;
  const health = createSharedHealth({ clock: { now: () => now }, onBreaker: () => {}, onAffinity: () => {} });
  health.cooldowns.rest(1, 0, "m", 60_000);
  health.cooldowns.applyRemote(1, 0, "m", 5_000);
  expect(health.cooldowns.until(1, 0, "m")).toBe(61_000);
  now = 61_000;
  expect(health.cooldowns.until(1, 0, "m")).toBe(0);
});

test("replicas share running requests, and a message of that kind changes nothing else", () => {
  vi.useFakeTimers();
  try {
    const replica = () =>
      createSharedHealth({ clock: { now: () => Date.now() }, onBreaker: () => {}, onAffinity: () => {} });
    const [a, b] = [replica(), replica()];
    a.publishBy((text) => b.receive(text));
    const end = a.loads.begin(3);
    vi.advanceTimersByTime(1_000);
    expect(b.loads.running(3)).toBe(1);
    end();
    vi.advanceTimersByTime(1_000);
    expect(b.loads.running(3)).toBe(0);
    expect([b.breakers.states(), b.cooldowns.resting()]).toEqual([[], []]);
  } finally {
    vi.useRealTimers();
  }
});
