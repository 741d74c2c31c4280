import { describe, expect, it } from "vitest";
import { createPriceBook } from "../../billing/pricing/price-book.ts";
import { parseOptions } from "@fairway/wire";
import { systemClock } from "../../lib/clock.ts";
import type { RequestSpec } from "../../dialects/core/types.ts";
import type { ChannelRecord } from "../../providers/core/types.ts";
import { resolveBalancingPolicy } from "../../snapshot/balancing-policy.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import { createBreakers } from "./breaker.ts";
import { createCooldowns } from "./cooldown.ts";
import type { RouteTarget, SelectionDeps } from "./types.ts";
import { pinnedTarget } from "./pinned-target.ts";
import { createSelection } from "./select.ts";

const caller = {};
const spec: RequestSpec = {
  operation: "chat",
  dialect: "openai-chat",
  model: "m",
  stream: false,
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
    models: new Set(["m"]),
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

function createSnapshot(channels: readonly ChannelRecord[], options: Record<string, string> = {}): Snapshot {
  const enabled = channels.filter(({ status }) => status === 1);
  const priorities = [...new Set(enabled.map(({ priority }) => priority))].sort((a, b) => b - a);
  const levels = priorities.map((priority) => ({
    priority,
    channels: enabled.filter((one) => one.priority === priority),
  }));
  return {
    revision: 1,
    options: parseOptions(Object.entries(options).map(([key, value]) => ({ key, value }))),
    prices: createPriceBook(),
    fallbacks: undefined,
    guardrail: undefined,
    responseCache: undefined,
    tags: undefined,
    balancing: resolveBalancingPolicy(parseOptions(Object.entries(options).map(([key, value]) => ({ key, value })))),
    channels: new Map(channels.map((one) => [one.id, one])),
    index: new Map([["default", new Map(levels.length > 0 ? [["m", levels]] : [])]]),
    listed: new Map([["default", new Set(channels.length > 0 ? ["m"] : [])]]),
  };
}

function deps(random = Math.random): SelectionDeps {
  return {
    cooldowns: createCooldowns(systemClock),
    breakers: createBreakers({ clock: systemClock }),
    random,
    now: () => systemClock.now(),
    polling: new Map(),
  };
}

/** Linear congruential generator: the draws of a run are the same every time. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

describe("createSelection", () => {
  it("draws by weight + 10", () => {
    const snapshot = createSnapshot([channel(1, { weight: 0 }), channel(2, { weight: 10 })]);
    const random = seeded(42);
    const draws = 20_000;
    let first = 0;
    for (let i = 0; i < draws; i++) {
      if (createSelection(snapshot, ["default"], { caller, spec }, deps(random)).next()?.channel.id === 1) first++;
    }
    const expected = draws / 3;
    const chiSquare = (first - expected) ** 2 / expected + (first - expected) ** 2 / (draws - expected);
    expect(chiSquare).toBeLessThan(10.83);
  });

  it("uses the untried channels of a level before it goes lower", () => {
    const snapshot = createSnapshot([
      channel(1, { priority: 5 }),
      channel(2, { priority: 5 }),
      channel(3, { priority: 1 }),
    ]);
    const selection = createSelection(snapshot, ["default"], { caller, spec }, deps());
    const ids = [selection.next(), selection.next(), selection.next(), selection.next()].map(
      (choice) => choice?.channel.id,
    );
    expect(new Set(ids.slice(0, 2))).toEqual(new Set([1, 2]));
    expect(ids.slice(2)).toEqual([3, undefined]);
  });

  it("drops one level per retry when RetrySameLevel is off", () => {
    const snapshot = createSnapshot(
      [channel(1, { priority: 5 }), channel(2, { priority: 5 }), channel(3, { priority: 1 })],
      { RetrySameLevel: "false" },
    );
    const selection = createSelection(snapshot, ["default"], { caller, spec }, deps());
    expect([1, 2]).toContain(selection.next()?.channel.id);
    expect(selection.next()?.channel.id).toBe(3);
  });

  it("tries a channel again only after a transient failure and when nothing else is left", () => {
    const selection = createSelection(createSnapshot([channel(1)]), ["default"], { caller, spec }, deps());
    const target = selection.next();
    if (target) selection.failed(target, { isTransient: true, isOfKey: false });
    expect(selection.next()?.channel.id).toBe(1);
    expect(selection.next()).toBeUndefined();
  });

  it("skips a resting channel, and uses it when it is the only one", () => {
    const resting = deps();
    resting.cooldowns.rest(1, 0, "m", 5_000);
    expect(
      createSelection(
        createSnapshot([channel(1, { priority: 5 }), channel(2)]),
        ["default"],
        { caller, spec },
        resting,
      ).next()?.channel.id,
    ).toBe(2);
    expect(
      createSelection(createSnapshot([channel(1)]), ["default"], { caller, spec }, resting).next()?.channel.id,
    ).toBe(1);
  });

  it("reads a level of thousands a few times, however many of its channels rest", () => {
    const many = Array.from({ length: 3_000 }, (_, at) => channel(at + 1, { keys: ["a", "b"], keyMode: "polling" }));
    let draws = 0;
    const resting = deps(() => {
      draws += 1;
      return 0.5;
    });
    const rested = {
      ...resting,
      cooldowns: { ...resting.cooldowns, until: (id: number) => (id === 7 ? 0 : Infinity) },
    };
    const selection = createSelection(createSnapshot(many), ["default"], { caller, spec }, rested);
    expect(selection.next()?.channel.id).toBe(7);
    expect(draws).toBeLessThan(10);
    // Only keys that were drawn take their turn.
    expect(rested.polling.size).toBeLessThan(10);
    expect(rested.polling.get(7)).toBe(1);
  });

  it("rests one key of several", () => {
    const resting = deps(() => 0);
    resting.cooldowns.rest(1, 0, "m", 5_000);
    expect(
      createSelection(createSnapshot([channel(1, { keys: ["a", "b"] })]), ["default"], { caller, spec }, resting).next()
        ?.keyIndex,
    ).toBe(1);
  });

  it("polls keys in turn across requests", () => {
    const shared = deps();
    const snapshot = createSnapshot([channel(1, { keys: ["a", "b", "c"], keyMode: "polling" })]);
    const indices = [1, 2, 3, 4].map(
      () => createSelection(snapshot, ["default"], { caller, spec }, shared).next()?.keyIndex,
    );
    expect(indices).toEqual([0, 1, 2, 0]);
  });

  it("skips channels whose prompt limit is too small", () => {
    const snapshot = createSnapshot([
      channel(1, { maxInputTokens: 99, priority: 9 }),
      channel(2, { maxInputTokens: 100 }),
    ]);
    expect(createSelection(snapshot, ["default"], { caller, spec }, deps()).next()?.channel.id).toBe(2);
  });

  it("skips channels whose type cannot serve the endpoint", () => {
    const snapshot = createSnapshot([channel(1, { type: 36, priority: 9 }), channel(2)]);
    expect(createSelection(snapshot, ["default"], { caller, spec }, deps()).next()?.channel.id).toBe(2);
  });

  it("distinguishes an endpoint that no channel of the model supports from one without a channel now", () => {
    const spoken: RequestSpec = { ...spec, operation: "audio.speech", dialect: "openai-audio" };
    const snapshot = createSnapshot([channel(1, { type: 14 })]);
    expect(() => createSelection(snapshot, ["default"], { caller, spec: spoken }, deps()).next()).toThrow(
      expect.objectContaining({ code: "no_available_channel", status: 503, retryable: false }),
    );
    const both = createSnapshot([channel(1, { type: 14 }), channel(2, { maxInputTokens: 1 })]);
    expect(() =>
      createSelection(both, ["default"], { caller, spec: { ...spoken, promptEstimate: 2 } }, deps()).next(),
    ).toThrow(expect.objectContaining({ code: "no_available_channel", retryable: true }));
  });

  it("distinguishes an unknown model from a model without an enabled channel", () => {
    expect(() => createSelection(createSnapshot([]), ["default"], { caller, spec }, deps())).toThrow(
      expect.objectContaining({ code: "model_not_found", status: 404 }),
    );
    const off = createSnapshot([channel(1, { status: 2 })]);
    expect(() => createSelection(off, ["default"], { caller, spec }, deps())).toThrow(
      expect.objectContaining({ code: "no_available_channel", status: 503, retryAfterMs: 5_000 }),
    );
  });
});

describe("pinnedTarget", () => {
  it("names the fault of the pinned channel", () => {
    const snapshot = createSnapshot([channel(1), channel(2, { status: 3 })]);
    expect(pinnedTarget(snapshot, { channelId: 1, group: "default" }, { caller, spec }, deps()).channel.id).toBe(1);
    expect(() => pinnedTarget(snapshot, { channelId: 2, group: "default" }, { caller, spec }, deps())).toThrow(
      expect.objectContaining({ code: "channel_disabled" }),
    );
    expect(() => pinnedTarget(snapshot, { channelId: 9, group: "default" }, { caller, spec }, deps())).toThrow(
      expect.objectContaining({ code: "channel_not_found" }),
    );
  });
});

describe("keys of one channel", () => {
  const keys = ["a", "b", "c", "d"];
  const draws = (one: ChannelRecord, count: number, random = Math.random) => {
    const shared = deps(random);
    return Array.from(
      { length: count },
      () => createSelection(createSnapshot([one]), ["default"], { caller, spec }, shared).next()?.keyIndex,
    );
  };

  it("are never drawn when they are off, and the others share equally", () => {
    const drawn = draws(channel(1, { keys, usableKeys: [1, 3] }), 400);
    const first = drawn.filter((index) => index === 1).length;
    expect(new Set(drawn)).toEqual(new Set([1, 3]));
    expect(first).toBeGreaterThan(140);
    expect(first).toBeLessThan(260);
  });

  it("take turns while polling, without those that are off", () => {
    const polled = channel(1, { keys, usableKeys: [0, 2, 3], keyMode: "polling" });
    expect(draws(polled, 6)).toEqual([0, 2, 3, 0, 2, 3]);
    expect(() => draws(channel(1, { keys, usableKeys: [] }), 1)).toThrow("No channel for m");
  });

  it("are tried after the other channels of the level when a key failed", () => {
    const selection = createSelection(
      createSnapshot([channel(1, { keys: ["a", "b"] }), channel(2), channel(3, { priority: -1 })]),
      ["default"],
      { caller, spec },
      deps(() => 0),
    );
    const tried: string[] = [];
    for (let target = selection.next(); target; target = selection.next()) {
      tried.push(`${target.channel.id}.${target.keyIndex}`);
      selection.failed(target, { isTransient: false, isOfKey: true });
    }
    expect(tried).toEqual(["1.0", "2.0", "1.1", "3.0"]);
  });

  it("do not serve their conversation again when they are off", () => {
    const one = channel(1, { keys, usableKeys: [2] });
    const preferred = { channelId: 1, keyIndex: 0 };
    expect(
      createSelection(createSnapshot([one]), ["default"], { caller, spec, preferred }, deps()).next()?.keyIndex,
    ).toBe(2);
  });
});

describe("what is full", () => {
  const two = [channel(1, { priority: 5, keys: ["a", "b"] }), channel(2)];
  const select = (channels: readonly ChannelRecord[], more: Partial<SelectionDeps> = {}) =>
    createSelection(createSnapshot(channels), ["default"], { caller, spec }, { ...deps(() => 0), ...more });

  it("is one key, or the channel with all its keys", () => {
    const tried = (what: "key" | "channel") => {
      const selection = select(two);
      const found: string[] = [];
      for (let target = selection.next(); target; target = selection.next()) {
        found.push(`${target.channel.id}.${target.keyIndex}`);
        selection.full(target, what);
      }
      return [...found, selection.reopen()?.channel.id];
    };
    expect(tried("key")).toEqual(["1.0", "1.1", "2.0", 1]);
    expect(tried("channel")).toEqual(["1.0", "2.0", 1]);
  });

  it("is waited for while all others rest, and resting keys are the last resort", () => {
    const resting = deps();
    resting.breakers.applyRemote(2, 0, 10_000);
    const selection = createSelection(createSnapshot(two), ["default"], { caller, spec }, resting);
    selection.full(selection.next() as RouteTarget, "channel");
    expect(selection.next()).toBeUndefined();
    const again = selection.reopen() as RouteTarget;
    expect(again.channel.id).toBe(1);
    selection.full(again, "channel");
    expect(selection.next()).toBeUndefined();
    expect(selection.lastResort()?.channel.id).toBe(2);
  });

  it("does not prevent a further attempt on keys that rest", () => {
    const resting = deps();
    resting.breakers.applyRemote(2, 0, 10_000);
    const three = [...two, channel(3, { priority: 9 })];
    const selection = createSelection(createSnapshot(three), ["default"], { caller, spec }, resting);
    selection.failed(selection.next() as RouteTarget, { isTransient: false, isOfKey: false });
    selection.full(selection.next() as RouteTarget, "channel");
    expect(selection.next()?.channel.id).toBe(2);
  });
});

describe("the preferred channel", () => {
  it("does not change the order: when it fails, the best channel is next", () => {
    const channels = [channel(1, { priority: 5 }), channel(2, { priority: 1 })];
    const snapshot = createSnapshot(channels, { RetrySameLevel: "false" });
    const preferred = { channelId: 2, keyIndex: 0 };
    const selection = createSelection(snapshot, ["default"], { caller, spec, preferred }, deps());
    const first = selection.next() as RouteTarget;
    expect(first.channel.id).toBe(2);
    selection.failed(first, { isTransient: true, isOfKey: false });
    expect(selection.next()?.channel.id).toBe(1);
  });
});

describe("the probe of a key that was skipped", () => {
  it("is free again when nothing was sent", () => {
    let now = 0;
    const clock = { now: () => now };
    const shared = { ...deps(), breakers: createBreakers({ clock }), now: () => now };
    const snapshot = createSnapshot([channel(1, { priority: 5 }), channel(2)]);
    const begin = () => createSelection(snapshot, ["default"], { caller, spec }, shared);
    shared.breakers.applyRemote(1, 0, 10_000);
    now = 10_001;
    const refused = begin();
    expect(refused.next()?.channel.id).toBe(1);
    expect(begin().next()?.channel.id).toBe(2);
    refused.unused();
    expect(begin().next()?.channel.id).toBe(1);
  });
});

describe("a change while a request waits or tries", () => {
  it("applies: a channel that was switched off is not chosen, a new one is", () => {
    let current = createSnapshot([channel(1), channel(2, { priority: -1 })]);
    const selection = createSelection(current, ["default"], { caller, spec }, { ...deps(), current: () => current });
    const first = selection.next() as RouteTarget;
    selection.failed(first, { isTransient: true, isOfKey: false });
    current = createSnapshot([channel(1, { status: 2 }), channel(2, { status: 2 }), channel(3)]);
    expect(selection.next()?.channel.id).toBe(3);
    expect(selection.next()).toBeUndefined();
  });

  it("applies to a channel that was full", () => {
    let current = createSnapshot([channel(1)]);
    const selection = createSelection(current, ["default"], { caller, spec }, { ...deps(), current: () => current });
    selection.full(selection.next() as RouteTarget, "channel");
    current = createSnapshot([channel(1, { keys: ["new"] })]);
    const again = selection.reopen() as RouteTarget;
    expect(again.channel.keys).toEqual(["new"]);
    selection.full(again, "channel");
    current = createSnapshot([channel(1, { status: 2 })]);
    expect(selection.reopen()).toBeUndefined();
  });
});
