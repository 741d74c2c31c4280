import type { Budget } from "@fairway/wire";
import { afterEach, describe, expect, it } from "vitest";
import { readError, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
const made: number[] = [];

async function budget(fields: object): Promise<Budget> {
  const created = await relay.gateway.root.must<Budget>("POST", "/api/budget/", fields);
  made.push(created.id);
  return created;
}
const read = (id: number) => relay.gateway.root.must<Budget>("GET", `/api/budget/${id}`);

afterEach(async () => {
  for (const id of made.splice(0)) await relay.gateway.root.must("DELETE", `/api/budget/${id}`);
});

describe("budgets of requests", () => {
  it("admits one of 200 concurrent calls when the budget covers one, and records its charge", async () => {
    const model = "slow-200";
    await relay.gateway.channel(model);
    const soft = await budget({ scope: "user", subject: "1", period: "day", quota_limit: 10 ** 12, is_hard: false });
    const first = relay.ask(model, { stream: true });
    await expect.poll(async () => (await read(soft.id)).held).toBeGreaterThan(0);
    const { held } = await read(soft.id);
    await (await first).text();
    const { id } = await budget({ scope: "model", subject: model, period: "month", quota_limit: held });
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const response = await relay.ask(model, { stream: true });
        await response.text();
        return response.status;
      }),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 403)).toHaveLength(199);
    await expect.poll(() => read(id)).toMatchObject({ held: 0 });
    const { used } = await read(id);
    expect(used).toBeGreaterThan(0);
    expect(used).toBeLessThan(held);
  });

  it("returns the scope and the end of the period to a request over budget, and reserves nothing", async () => {
    await relay.gateway.channel("budgeted");
    await budget({ scope: "group", subject: "default", period: "day", quota_limit: 1 });
    const response = await relay.ask("budgeted");
    expect(response.status).toBe(403);
    expect(Number(response.headers.get("retry-after"))).toBeLessThanOrEqual(86_400);
    const { code, message, ...more } = await readError(response);
    expect({ code, ...more }).toMatchObject({
      code: "budget_exceeded",
      param: "group",
      entity: { scope: "group", name: "default" },
    });
    expect(message).toMatch(
      /^The daily budget of group default is used up; the next window begins at 20\d\d-.*T00:00:00\.000Z\./,
    );
  });

  it("skips a channel without budget", async () => {
    const spent = await relay.gateway.channel("spread", { priority: 10 });
    await relay.gateway.channel("spread");
    await budget({ scope: "channel", subject: String(spent), period: "week", quota_limit: 1 });
    const response = await relay.ask("spread");
    expect(response.status).toBe(200);
    await response.text();
  });

  it("reserves the budget of the next channel for a retry, or tries another one", async () => {
    await relay.gateway.option("RetryTimes", 3);
    const broken = await relay.gateway.channel("status-500", {
      priority: 10,
      model_mapping: '{"moved":"status-500"}',
      models: "moved",
    });
    const poor = await relay.gateway.channel("moved", { priority: 5 });
    const rich = await relay.gateway.channel("moved");
    const channels = [broken, poor, rich];
    const [, , counted] = await Promise.all(
      channels.map((id) =>
        budget({ scope: "channel", subject: String(id), period: "week", quota_limit: id === poor ? 1 : 10 ** 9 }),
      ),
    );
    const response = await relay.ask("moved");
    expect(response.status).toBe(200);
    await response.text();
    await expect.poll(async () => (await read(counted?.id ?? 0)).used).toBeGreaterThan(0);
    for (const id of made) expect(await read(id)).toMatchObject({ held: 0 });
  });

  it.each([true, false])(
    "a hard budget ends a stream that would pass it, whatever holds for balances: %s",
    async (stops) => {
      const model = "slow-1+long-9000";
      await relay.gateway.option("StopStreamsOnEmptyBalance", stops);
      await relay.gateway.channel(model);
      const { id } = await budget({ scope: "model", subject: model, period: "day", quota_limit: 2_500 });
      const response = await relay.ask(model, { stream: true });
      const last = (await response.text()).trim().split("\n\n").at(-1) ?? "";
      expect(JSON.parse(last.slice("data: ".length))).toMatchObject({ error: { code: "insufficient_quota" } });
      await expect.poll(() => read(id)).toMatchObject({ held: 0 });
      const { used } = await read(id);
      expect(used).toBeGreaterThan(1_000);
      expect(used).toBeLessThanOrEqual(2_600);
      await relay.gateway.option("StopStreamsOnEmptyBalance", true);
    },
  );

  it("charges a running stream to a budget that was created after its start", async () => {
    const model = "slow-100+long-20";
    await relay.gateway.channel(model);
    const response = await relay.ask(model, { stream: true });
    const { id } = await budget({ scope: "model", subject: model, period: "day", quota_limit: 10 ** 9 });
    await response.text();
    await expect.poll(async () => (await read(id)).used).toBeGreaterThan(0);
    expect(await read(id)).toMatchObject({ held: 0 });
  });

  it("admits and counts every request of a soft budget", async () => {
    await relay.gateway.channel("soft");
    const { id } = await budget({ scope: "model", subject: "soft", period: "day", quota_limit: 1, is_hard: false });
    const response = await relay.ask("soft");
    expect(response.status).toBe(200);
    await response.text();
    await expect.poll(async () => (await read(id)).used).toBeGreaterThan(1);
    expect(relay.gateway.logLines()).toContain("a budget passed a threshold");
  });
});
