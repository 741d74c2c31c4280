import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { useRelay } from "../../kit/relay-app.ts";
import { explain } from "../fallback/fallback-kit.ts";

const relay = useRelay();

/** A channel whose upstream behaves as this model name says. */
function channel(model: string, behaviour: string, more: object = {}): Promise<number> {
  return relay.gateway.channel(model, { model_mapping: JSON.stringify({ [model]: behaviour }), ...more });
}

const choose = (strategies: Readonly<Record<string, string>>) =>
  relay.gateway.option("ChannelStrategies", JSON.stringify(strategies));

beforeEach(() => relay.gateway.option("RetryTimes", "0"));
afterAll(() => choose({}));

describe("a model with the strategy latency", () => {
  it("sends most streams to the channel that begins to answer sooner, and its explanation says why", async () => {
    await choose({ "quick-or-slow": "latency" });
    const quick = await channel("quick-or-slow", "plain");
    const slow = await channel("quick-or-slow", "slow-80");
    const ask = () => relay.ask("quick-or-slow", { stream: true });
    for (let call = 0; call < 12; call += 1) await (await ask()).text();
    const found = await explain(relay, await ask());
    expect(found.route).toBe("latency");
    expect(found.candidates.map((one) => [one.channel, one.skipped])).toEqual([
      [quick, undefined],
      [slow, "not_better"],
    ]);
    expect(found.draws).toMatchObject([{ taken: quick, other: slow }]);
    const [draw] = found.draws ?? [];
    expect(draw?.other_measure).toBeGreaterThan(draw?.taken_measure ?? 0);
  });
});

describe("a model with the strategy least_busy", () => {
  it("counts only requests that run: those that ended or failed do not count", async () => {
    await choose({ "busy*": "least_busy" });
    await relay.gateway.option("RetryTimes", "2");
    await channel("busy", "slow-20", { weight: 10 });
    await channel("busy", "status-500", { weight: 10 });
    const calls = Array.from({ length: 8 }, (_, at) => relay.ask("busy", { stream: at % 2 === 0 }));
    for (const response of await Promise.all(calls)) await response.text();
    const found = await explain(relay, await relay.ask("busy"));
    expect(found.route).toBe("least_busy");
    for (const { taken_measure: taken, other_measure: other = 0 } of found.draws ?? [])
      expect([taken, other]).toEqual([0, 0]);
  });

  it("counts an answer while it streams", async () => {
    await choose({ held: "least_busy" });
    const ids = [await channel("held", "slow-150"), await channel("held", "slow-150")];
    const first = await relay.ask("held", { stream: true });
    const found = await explain(relay, await relay.ask("held"));
    await first.text();
    const [draw] = found.draws ?? [];
    expect(ids).toContain(draw?.taken);
    expect([draw?.taken_measure, draw?.other_measure]).toEqual([0, 0.1]);
  });
});

describe("a model with the strategy cost", () => {
  it("takes the channel with the lower cost ratio, which a form sets", async () => {
    await choose({ cheap: "cost" });
    const dear = await channel("cheap", "plain", { cost_ratio: 0.9 });
    const cheap = await channel("cheap", "plain", { cost_ratio: 0.75 });
    const found = await explain(relay, await relay.ask("cheap"));
    expect(found.draws).toEqual([{ taken: cheap, taken_measure: 0.75 }]);
    expect(found.candidates.find((one) => one.channel === dear)?.skipped).toBe("not_better");
    await relay.gateway.root.must("PUT", "/api/channel/", { id: dear, cost_ratio: 0.5 });
    expect((await explain(relay, await relay.ask("cheap"))).draws).toEqual([{ taken: dear, taken_measure: 0.5 }]);
  });

  it("refuses a cost ratio below 0 and a strategy that does not exist", async () => {
    const wrong = { name: "x", key: "k", models: "m", cost_ratio: -1 };
    const refused = await relay.gateway.root.call("POST", "/api/channel/", wrong);
    expect(refused.message).toBe("Invalid input: cost_ratio must be at least 0.");
    const option = await relay.gateway.root.call("PUT", "/api/option/", {
      key: "ChannelStrategies",
      value: '{"m":"fastest"}',
    });
    expect(option.message).toContain("m must be one of weight, least_busy, latency, cost");
  });
});
