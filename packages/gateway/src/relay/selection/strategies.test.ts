import { parseOptions } from "@fairway/wire";
import { describe, expect, it } from "vitest";
import { createPriceBook } from "../../billing/pricing/price-book.ts";
import type { RequestSpec } from "../../dialects/core/types.ts";
import type { ChannelRecord } from "../../providers/core/types.ts";
import { createSnapshot } from "../../snapshot/snapshot.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import { createSelection } from "./select.ts";
import { createSharedHealth } from "./shared-health.ts";
import type { Selection, SelectionDeps } from "./types.ts";

const spec: RequestSpec = {
  operation: "chat",
  dialect: "openai-chat",
  model: "m",
  stream: true,
  wantsStreamUsage: false,
  outputCap: undefined,
  promptEstimate: 100,
  units: 1,
};

function channel(id: number, more: Partial<ChannelRecord> = {}): ChannelRecord {
  return {
    id,
    type: 1,
    name: `channel ${id}`,
    status: 1,
    keys: ["k"],
    keyMode: "random",
    baseUrl: "",
    other: "",
    organization: "",
    models: new Set(["m", "other"]),
    groups: ["default"],
    modelMapping: new Map(),
    statusMapping: new Map(),
    priority: 0,
    weight: 0,
    autoBan: true,
    testModel: "",
    maxInputTokens: 0,
    costRatio: 1,
    tag: "",
    setting: {},
    paramOverride: undefined,
    headers: new Map(),
    ...more,
  };
}

function buildSnapshot(channels: readonly ChannelRecord[], options: Readonly<Record<string, string>>): Snapshot {
  const rows = Object.entries(options).map(([key, value]) => ({ key, value }));
  return createSnapshot({
    revision: 1,
    options: parseOptions(rows),
    prices: createPriceBook(),
    channels,
    unusable: [],
  });
}

/** Linear congruential generator: the draws of a run are the same every time. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

type Deps = Required<Pick<SelectionDeps, "loads" | "latencies">> & SelectionDeps;

function createReplica(seed: number): Deps {
  const health = createSharedHealth({ clock: { now: () => 1_000 }, onBreaker: () => {}, onAffinity: () => {} });
  return { ...health, random: seeded(seed), now: () => 1_000, polling: new Map() };
}

function select(snapshot: Snapshot, deps: SelectionDeps, more: Partial<RequestSpec> = {}): Selection {
  return createSelection(snapshot, ["default"], { caller: {}, spec: { ...spec, ...more } }, deps);
}

describe("the strategy latency", () => {
  it("sends at least 85 % of the calls to a channel ten times as fast after 50 calls, on each of three replicas", () => {
    const snapshot = buildSnapshot([channel(1), channel(2)], { ChannelStrategy: "latency" });
    const replicas = [1, 2, 3].map((seed) => createReplica(seed));
    const counts = replicas.map(() => ({ fast: 0, slow: 0 }));
    for (let call = 0; call < 50 + 300; call += 1) {
      const deps = replicas[call % replicas.length];
      const count = counts[call % replicas.length];
      const id = deps && select(snapshot, deps).next()?.channel.id;
      if (!deps || !count || id === undefined) throw new Error("no channel was chosen");
      deps.latencies.observe(id, "m", "stream", (id === 1 ? 50 : 500) * (0.8 + 0.4 * deps.random()));
      if (call >= 50) count[id === 1 ? "fast" : "slow"] += 1;
    }
    for (const { fast, slow } of counts) expect(fast / (fast + slow)).toBeGreaterThanOrEqual(0.85);
  });

  it("shares the calls of two channels that are about equally fast", () => {
    const snapshot = buildSnapshot([channel(1), channel(2)], { ChannelStrategy: "latency" });
    const deps = createReplica(4);
    deps.latencies.observe(1, "m", "stream", 100);
    deps.latencies.observe(2, "m", "stream", 105);
    const ids = Array.from({ length: 200 }, () => select(snapshot, deps).next()?.channel.id);
    expect(ids.filter((id) => id === 2).length).toBeGreaterThan(60);
  });
});

describe("the strategy least_busy", () => {
  it("keeps the running requests of 64 slow calls within a quarter of the weights", () => {
    const snapshot = buildSnapshot([channel(1, { weight: 10 }), channel(2, { weight: 30 })], {
      ChannelStrategy: "least_busy",
    });
    const deps = createReplica(5);
    const running: Selection[] = [];
    for (let call = 0; call < 400; call += 1) {
      if (running.length === 64) running.splice(Math.floor(deps.random() * 64), 1)[0]?.leave();
      const selection = select(snapshot, deps);
      selection.next();
      running.push(selection);
      if (running.length < 64) continue;
      const ratio = deps.loads.running(2) / deps.loads.running(1);
      expect(ratio).toBeGreaterThan(1.5);
      expect(ratio).toBeLessThan(2.5);
    }
    for (const selection of running) selection.leave();
    expect([deps.loads.running(1), deps.loads.running(2)]).toEqual([0, 0]);
  });

  it("counts a request on the channel of its last choice only, whatever ends the choice", () => {
    const snapshot = buildSnapshot([channel(1), channel(2)], { ChannelStrategy: "least_busy", RetryTimes: "3" });
    const deps = createReplica(6);
    const sum = () => deps.loads.running(1) + deps.loads.running(2);
    const selection = select(snapshot, deps);
    const first = selection.next();
    expect(sum()).toBe(1);
    if (first) selection.failed(first, { isTransient: false, isOfKey: false });
    expect(sum()).toBe(0);
    const second = selection.next();
    expect(sum()).toBe(1);
    if (second) selection.full(second, "channel");
    expect(sum()).toBe(0);
    selection.reopen();
    expect(sum()).toBe(1);
    selection.unused();
    expect(sum()).toBe(0);
  });

  it("follows the requests that other replicas announce", () => {
    const snapshot = buildSnapshot([channel(1), channel(2)], { ChannelStrategy: "least_busy" });
    const deps = createReplica(7);
    deps.loads.applyRemote("other", { "1": 9 });
    const ids = Array.from({ length: 8 }, () => select(snapshot, deps).next()?.channel.id);
    expect(new Set(ids)).toEqual(new Set([2]));
  });
});

describe("the strategy cost", () => {
  it("takes the cheapest channel that can serve, and equals by weight", () => {
    const channels = [channel(1), channel(2, { costRatio: 0.5 }), channel(3, { costRatio: 0.5, weight: 10 })];
    const snapshot = buildSnapshot(channels, { ChannelStrategy: "cost" });
    const deps = createReplica(8);
    const ids = Array.from({ length: 900 }, () => select(snapshot, deps).next()?.channel.id);
    expect(ids).not.toContain(1);
    expect(ids.filter((id) => id === 3).length).toBeGreaterThan(500);
    deps.cooldowns.rest(2, 0, "m", 5_000);
    deps.cooldowns.rest(3, 0, "m", 5_000);
    expect(select(snapshot, deps).next()?.channel.id).toBe(1);
  });
});

describe("a strategy", () => {
  it("comes after priorities and cool-downs, and a retry draws again", () => {
    const channels = [channel(1, { priority: 5 }), channel(2, { priority: 5 }), channel(3)];
    const snapshot = buildSnapshot(channels, { ChannelStrategy: "least_busy" });
    const deps = createReplica(9);
    deps.loads.applyRemote("other", { "1": 9, "2": 1 });
    const selection = select(snapshot, deps);
    expect([selection.next(), selection.next(), selection.next()].map((one) => one?.channel.id)).toEqual([2, 1, 3]);
    deps.cooldowns.rest(2, 0, "m", 5_000);
    expect(select(snapshot, deps).next()?.channel.id).toBe(1);
  });

  it("is that of the model, by name or prefix", () => {
    const snapshot = buildSnapshot([channel(1), channel(2, { costRatio: 2 })], {
      ChannelStrategies: '{"o*":"cost"}',
    });
    const draw = (model: string) =>
      new Set(Array.from({ length: 40 }, (_, at) => select(snapshot, createReplica(at), { model }).next()?.channel.id));
    expect(draw("other")).toEqual(new Set([1]));
    expect(draw("m")).toEqual(new Set([1, 2]));
  });

  it("says what it compared and which channel was not better", () => {
    const snapshot = buildSnapshot([channel(1), channel(2)], { ChannelStrategy: "least_busy" });
    const deps = createReplica(10);
    deps.loads.applyRemote("other", { "1": 20 });
    const selection = select(snapshot, deps);
    selection.next();
    expect(selection.candidates()).toMatchObject({
      strategy: "least_busy",
      draws: [[2, 0, 1, 2]],
      entries: [
        [1, "default", 0, 0, "not_better"],
        [2, "default", 0, 0, ""],
      ],
    });
  });

  it("does not move a polling channel on that it only compared", () => {
    const keys = ["a", "b", "c"];
    const channels = [channel(1, { keys, keyMode: "polling" }), channel(2, { keys, keyMode: "polling" })];
    const snapshot = buildSnapshot(channels, { ChannelStrategy: "least_busy" });
    const deps = createReplica(11);
    deps.loads.applyRemote("other", { "1": 20 });
    expect([0, 1, 2].map(() => select(snapshot, deps).next()?.keyIndex)).toEqual([0, 1, 2]);
    expect(deps.polling.has(1)).toBe(false);
  });

  it("is absent from the snapshot while everything is drawn by weight, and then nothing is counted", () => {
    const snapshot = buildSnapshot([channel(1), channel(2)], { ChannelStrategies: '{"m":"weight"}' });
    expect(snapshot.balancing).toBeUndefined();
    const deps = createReplica(12);
    const selection = select(snapshot, deps);
    selection.next();
    expect(deps.loads.running(1) + deps.loads.running(2)).toBe(0);
    expect(selection.candidates()).not.toHaveProperty("draws");
  });
});
