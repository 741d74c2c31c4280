import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createChannelLoads, type ChannelLoads } from "./channel-loads.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const clock = { now: () => Date.now() };

/** Replicas that hear each other. */
function connectReplicas(count: number): { readonly replicas: ChannelLoads[]; readonly sent: string[] } {
  const sent: string[] = [];
  const replicas: ChannelLoads[] = [];
  const announce = (replica: string, counts: Readonly<Record<string, number>>) => {
    sent.push(JSON.stringify(counts));
    for (const other of replicas) other.applyRemote(replica, counts);
  };
  for (let at = 0; at < count; at += 1) replicas.push(createChannelLoads({ clock, announce }));
  return { replicas, sent };
}

test("a request counts from its beginning to its end, and ends only once", () => {
  const { replicas } = connectReplicas(1);
  const [loads] = replicas as [ChannelLoads];
  const [end, endOther] = [loads.begin(1), loads.begin(1)];
  expect(loads.running(1)).toBe(2);
  end();
  end();
  expect(loads.running(1)).toBe(1);
  endOther();
  expect(loads.running(1)).toBe(0);
});

test("other replicas learn changed counts within a second, and none is announced while nothing runs", () => {
  const { replicas, sent } = connectReplicas(2);
  const [one, other] = replicas as [ChannelLoads, ChannelLoads];
  const end = one.begin(7);
  expect(other.running(7)).toBe(0);
  vi.advanceTimersByTime(1_000);
  expect([one.running(7), other.running(7)]).toEqual([1, 1]);
  end();
  vi.advanceTimersByTime(1_000);
  expect([one.running(7), other.running(7)]).toEqual([0, 0]);
  vi.advanceTimersByTime(60_000);
  expect(sent).toEqual(['{"7":1}', "{}"]);
});

test("a request that runs for long stays known, and the counts of a replica that died are forgotten", () => {
  const { replicas } = connectReplicas(2);
  const [one, other] = replicas as [ChannelLoads, ChannelLoads];
  one.begin(7);
  vi.advanceTimersByTime(60_000);
  expect(other.running(7)).toBe(1);
  other.applyRemote("dead", { "7": 5 });
  expect(other.running(7)).toBe(6);
  vi.advanceTimersByTime(16_000);
  expect(other.running(7)).toBe(1);
});

test("counts that are no whole numbers above 0 are skipped", () => {
  const { replicas } = connectReplicas(1);
  const [loads] = replicas as [ChannelLoads];
  loads.applyRemote("other", { "1": -3, "2": 0.5, "3": "9", x: 1, "4": 2 });
  expect([1, 2, 3, 4].map((id) => loads.running(id))).toEqual([0, 0, 0, 2]);
});
