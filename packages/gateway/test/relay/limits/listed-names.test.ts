import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
const SERIES = "gpt-4o-gizmo-*";

beforeAll(async () => {
  await relay.gateway.channel(SERIES);
  await relay.gateway.option("ModelPrice", JSON.stringify({ [SERIES]: 0.001 }));
});
beforeEach(() => relay.gateway.option("ModelLimits", "{}"));
afterEach(() => relay.gateway.option("ModelLimits", "{}"));

/** Makes calls that each invent another name of the series. */
async function collectStatuses(calls: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let call = 0; call < calls; call++) {
    const response = await relay.ask(`gpt-4o-gizmo-g-${call}-${Math.random()}`);
    await response.arrayBuffer();
    statuses.push(response.status);
  }
  return statuses;
}

describe("a series of models that is listed by a wildcard", () => {
  // @weakness Money: A client invents a model name for each call, and no budget or limit counts them together
  it("has one limit of requests, whatever names its clients invent", async () => {
    await relay.gateway.option("ModelLimits", JSON.stringify({ [SERIES]: { rpm: 3 } }));
    expect(await collectStatuses(5)).toEqual([200, 200, 200, 429, 429]);
  });

  it("has one hard budget, whatever names its clients invent", async () => {
    const { id } = await relay.gateway.root.must<{ id: number }>("POST", "/api/budget/", {
      scope: "model",
      subject: SERIES,
      period: "day",
      quota_limit: 1_000,
    });
    expect(await collectStatuses(4)).toEqual([200, 200, 403, 403]);
    await relay.gateway.root.must("DELETE", `/api/budget/${id}`);
  });

  it("rests as a whole when its upstream is at a rate limit", async () => {
    relay.gateway.upstream.script("/chat/completions", () => ({
      status: 429,
      headers: { "retry-after": "30" },
      body: { error: { message: "slow down", type: "rate_limit", code: "rate_limit_exceeded" } },
    }));
    await collectStatuses(1);
    const calls = relay.gateway.upstream.requests.length;
    relay.gateway.upstream.reset();
    await collectStatuses(1);
    expect(calls).toBeGreaterThan(0);
    const health = await relay.gateway.root.must<object[]>("GET", "/api/channel/health");
    expect(health.filter((one) => "model" in one)).toMatchObject([{ model: SERIES }]);
  });
});
