import type { ChannelHealth, Token } from "@fairway/wire";
import { afterEach, describe, expect, it } from "vitest";
import { chat, consumeRows, readError, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
const SLOW = "slow-100";

afterEach(async () => {
  for (const key of ["DefaultTokenLimits", "DefaultUserLimits", "GroupLimits", "ModelLimits"])
    await relay.gateway.option(key, "{}");
  await relay.gateway.option("ChannelQueueLength", 100);
  await relay.gateway.option("ChannelQueueSeconds", 10);
});

const limit = (option: string, limits: object) => relay.gateway.option(option, JSON.stringify(limits));
const statuses = (responses: readonly Response[]) => responses.map(({ status }) => status).toSorted((a, b) => a - b);
const many = (count: number, model: string, more: object = {}) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const response = await relay.ask(model, more);
      await response.clone().text();
      return response;
    }),
  );

describe("limits of the caller", () => {
  it("admits exactly the requests of a minute, and names limit, use and reset", async () => {
    await relay.gateway.channel("requests");
    await limit("DefaultUserLimits", { rpm: 5 });
    const responses = await many(20, "requests");
    expect(statuses(responses)).toEqual([
      ...Array.from({ length: 5 }, () => 200),
      ...Array.from({ length: 15 }, () => 429),
    ]);
    const refused = responses.find(({ status }) => status === 429) as Response;
    expect((await readError(refused)).message).toMatch(
      /^Limit of this user reached: 5 requests per minute, 5 used; retry after \d+ s\. /,
    );
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(30);
    expect(refused.headers.get("x-ratelimit-limit-requests")).toBe("5");
    expect(refused.headers.get("x-ratelimit-remaining-requests")).toBe("0");
    expect(refused.headers.get("x-ratelimit-reset-requests")).toMatch(/^\d+s$/);
    const remaining = responses
      .filter(({ ok }) => ok)
      .map(({ headers }) => headers.get("x-ratelimit-remaining-requests"));
    expect(new Set(remaining)).toEqual(new Set(["0", "1", "2", "3", "4"]));
  });

  it("counts estimated tokens, and corrects them to the usage", async () => {
    await relay.gateway.channel("tokens");
    await limit("ModelLimits", { tokens: { tpm: 1_500 } });
    const first = await relay.ask("tokens");
    expect(first.headers.get("x-ratelimit-remaining-tokens")).toMatch(/^4\d\d$/);
    await first.text();
    await relay.gateway.settled();
    // The default reservation of 1,000 tokens would not fit twice.
    const second = await relay.ask("tokens");
    expect(second.status).toBe(200);
    await second.text();
    const message = { ...chat("tokens"), max_tokens: 5 };
    const third = await relay.gateway.post("/v1/messages", message, relay.key);
    expect(third.headers.get("anthropic-ratelimit-tokens-limit")).toBe("1500");
    await third.text();
  });

  it("limits concurrent requests, and frees the place at the end", async () => {
    await relay.gateway.channel(SLOW);
    await limit("DefaultTokenLimits", { concurrency: 2 });
    const responses = await many(5, SLOW, { stream: true });
    expect(statuses(responses)).toEqual([200, 200, 429, 429, 429]);
    const refused = responses.find(({ status }) => status === 429) as Response;
    expect((await readError(refused)).code).toBe("concurrency_limit_exceeded");
    await relay.gateway.settled();
    expect((await many(1, SLOW))[0]?.status).toBe(200);
  });

  it("applies a token's own limits, and changes of them at once", async () => {
    await relay.gateway.channel("owned");
    const key = await relay.gateway.token({ name: "owned", limits: { rpm: 1 } });
    const ask = async () => {
      const response = await relay.gateway.post("/v1/chat/completions", chat("owned"), key);
      await response.text();
      return response.status;
    };
    expect([await ask(), await ask()]).toEqual([200, 429]);
    const tokens = await relay.gateway.root.must<Token[]>("GET", "/api/token/?p=0&page_size=100");
    const token = tokens.find(({ name }) => name === "owned");
    await relay.gateway.root.must("PUT", "/api/token/", { ...token, limits: { rpm: 2 } });
    expect([await ask(), await ask()]).toEqual([200, 429]);
    await relay.gateway.root.must("PUT", "/api/token/", { ...token, limits: {} });
    expect(await ask()).toBe(200);
    await relay.gateway.root.must("PUT", "/api/user/", { id: 1, limits: { concurrency: 1 } });
    await relay.gateway.channel(`${SLOW}+mine`, { model_mapping: JSON.stringify({ [`${SLOW}+mine`]: SLOW }) });
    expect(statuses(await many(3, `${SLOW}+mine`, { stream: true }))).toEqual([200, 429, 429]);
    await relay.gateway.root.must("PUT", "/api/user/", { id: 1, limits: {} });
  });

  it("takes no reservation and no other limit for a refused request", async () => {
    await relay.gateway.channel("nothing");
    await limit("GroupLimits", { default: { rpm: 100 } });
    await limit("ModelLimits", { nothing: { rpm: 1 } });
    await many(4, "nothing");
    await limit("ModelLimits", { other: { rpm: 1 } });
    const response = await relay.ask("nothing");
    await response.text();
    expect(response.headers.get("x-ratelimit-remaining-requests")).toBe("98");
  });
});

describe("limits of channels", () => {
  const channelWith = (model: string, setting: object, more: object = {}) =>
    relay.gateway.channel(model, { setting: JSON.stringify(setting), ...more });

  it("skip a full channel without a failure", async () => {
    const small = await channelWith("pass", { limits: { rpm: 2 } }, { priority: 10 });
    const large = await relay.gateway.channel("pass");
    const used = new Map<number, number>();
    for (const response of await many(10, "pass")) {
      expect(response.status).toBe(200);
      const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
      used.set(row?.channel_id ?? 0, (used.get(row?.channel_id ?? 0) ?? 0) + 1);
    }
    expect(Object.fromEntries(used)).toEqual({ [small]: 2, [large]: 8 });
  });

  it("let requests wait for a place, and log how long", async () => {
    await channelWith(
      `${SLOW}+queue`,
      { limits: { concurrency: 1 } },
      { model_mapping: JSON.stringify({ [`${SLOW}+queue`]: SLOW }) },
    );
    const responses = await many(4, `${SLOW}+queue`, { stream: true });
    expect(statuses(responses)).toEqual([200, 200, 200, 200]);
    const waits = [];
    for (const response of responses) {
      const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
      waits.push((row?.other as { queue_ms?: number } | undefined)?.queue_ms ?? 0);
    }
    expect(waits.filter((ms) => ms > 50)).toHaveLength(3);
  });

  it("return 429 when the queue is full, and when the wait is too long", async () => {
    const model = `${SLOW}+bound`;
    await channelWith(model, { key_limits: { concurrency: 1 } }, { model_mapping: JSON.stringify({ [model]: SLOW }) });
    await relay.gateway.option("ChannelQueueLength", 1);
    const responses = await many(4, model, { stream: true });
    expect(statuses(responses)).toEqual([200, 200, 429, 429]);
    const refused = responses.find(({ status }) => status === 429) as Response;
    expect(refused.headers.get("retry-after")).toBe("5");
    expect((await readError(refused)).message).toContain(
      `All channels for ${model} in group default are at their limits; retry after 5 s.`,
    );
  });

  it("renew the reservation of a waiting request", async () => {
    const model = "slow-50+long-400+lease";
    const mapping = JSON.stringify({ [model]: "slow-50+long-400" });
    await channelWith(model, { limits: { concurrency: 1 } }, { model_mapping: mapping });
    const leaver = new AbortController();
    const body = { model, stream: true, messages: [{ role: "user", content: "hi" }] };
    const ask = () => relay.gateway.post("/v1/chat/completions", body, relay.key, { signal: leaver.signal });
    const running = await ask();
    const holds = () => relay.gateway.database.db.selectFrom("holds").selectAll().execute();
    const known = new Set((await holds()).map(({ request_id: id }) => id));
    const waiting = ask().catch(() => undefined);
    const waiter = async () => (await holds()).find(({ request_id: id }) => !known.has(id))?.lease_until ?? 0;
    await expect.poll(waiter).toBeGreaterThan(0);
    const lease = await waiter();
    await expect.poll(waiter, { timeout: 6_000, interval: 100 }).toBeGreaterThan(lease);
    leaver.abort();
    await waiting;
    await running.text().catch(() => undefined);
    await relay.gateway.settled();
  });

  it("do not use a channel that was switched off during the wait", async () => {
    const model = "slow-50+long-400+off";
    const mapping = JSON.stringify({ [model]: "slow-50+long-400" });
    const id = await channelWith(model, { limits: { concurrency: 1 } }, { model_mapping: mapping });
    const leaver = new AbortController();
    const body = { model, stream: true, messages: [{ role: "user", content: "hi" }] };
    const running = await relay.gateway.post("/v1/chat/completions", body, relay.key, { signal: leaver.signal });
    const waiting = relay.ask(model);
    const metrics = async () => (await fetch(`${relay.gateway.adminUrl}/metrics`)).text();
    await expect.poll(metrics).toContain("fairway_admission_queue_length 1\n");
    await relay.gateway.root.must("PUT", "/api/channel/", { id, status: 2 });
    leaver.abort();
    await running.text().catch(() => undefined);
    const refused = await waiting;
    expect([refused.status, (await readError(refused)).code]).toEqual([503, "no_available_channel"]);
    await relay.gateway.settled();
  });

  it("do not use a pinned channel that was switched off", async () => {
    const model = "slow-50+long-400+named";
    const mapping = JSON.stringify({ [model]: "slow-50+long-400" });
    const id = await channelWith(model, { limits: { concurrency: 1 } }, { model_mapping: mapping });
    const leaver = new AbortController();
    const path = "/v1/chat/completions";
    const running = await relay.gateway.post(path, chat(model, { stream: true }), relay.key, { signal: leaver.signal });
    const waiting = relay.gateway.post(path, chat(model), `${relay.key}-${id}`);
    const metrics = async () => (await fetch(`${relay.gateway.adminUrl}/metrics`)).text();
    await expect.poll(metrics).toContain("fairway_admission_queue_length 1\n");
    await relay.gateway.root.must("PUT", "/api/channel/", { id, status: 2 });
    leaver.abort();
    await running.text().catch(() => undefined);
    const refused = await waiting;
    expect([refused.status, (await readError(refused)).code]).toEqual([403, "channel_disabled"]);
    await relay.gateway.settled();
  });

  it("do not serve a token that was switched off during the wait", async () => {
    const model = "slow-50+long-400+key";
    const mapping = JSON.stringify({ [model]: "slow-50+long-400" });
    await channelWith(model, { limits: { concurrency: 1 } }, { model_mapping: mapping });
    const key = await relay.gateway.token({ name: "waits" });
    const leaver = new AbortController();
    const path = "/v1/chat/completions";
    const running = await relay.gateway.post(path, chat(model, { stream: true }), relay.key, { signal: leaver.signal });
    const waiting = relay.gateway.post(path, chat(model), key);
    const metrics = async () => (await fetch(`${relay.gateway.adminUrl}/metrics`)).text();
    await expect.poll(metrics).toContain("fairway_admission_queue_length 1\n");
    const tokens = await relay.gateway.root.must<Token[]>("GET", "/api/token/?p=0&page_size=100");
    const { id } = tokens.find(({ name }) => name === "waits") as Token;
    await relay.gateway.root.must("PUT", "/api/token/?status_only=true", { id, status: 2 });
    leaver.abort();
    await running.text().catch(() => undefined);
    const refused = await waiting;
    expect([refused.status, (await readError(refused)).code]).toEqual([401, "token_disabled"]);
    await relay.gateway.settled();
  });

  it("free the place of a client that leaves the queue, without a charge", async () => {
    const model = `${SLOW}+leave`;
    await channelWith(model, { limits: { concurrency: 1 } }, { model_mapping: JSON.stringify({ [model]: SLOW }) });
    await relay.gateway.option("ChannelQueueLength", 1);
    const running = relay.ask(model, { stream: true });
    await (await running).body?.getReader().read();
    const leaver = new AbortController();
    const left = relay.gateway.post(
      "/v1/chat/completions",
      { model, messages: [{ role: "user", content: "hi" }] },
      relay.key,
      { signal: leaver.signal },
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    leaver.abort();
    await expect(left).rejects.toThrow();
    const next = await relay.ask(model);
    expect(next.status).toBe(200);
    await next.text();
  });
});

describe("affinity", () => {
  const servedBy = async (more: object) => {
    const response = await relay.ask("talks", more);
    await response.text();
    const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
    return row?.channel_id;
  };

  it("keeps a conversation on its channel, spreads others, and moves it when the channel is removed", async () => {
    for (let at = 0; at < 4; at += 1) await relay.gateway.channel("talks");
    const home = await servedBy({ prompt_cache_key: "talk 1" });
    for (let at = 0; at < 8; at += 1) expect(await servedBy({ prompt_cache_key: "talk 1" })).toBe(home);
    const others = new Set<unknown>();
    for (let at = 0; at < 16; at += 1) others.add(await servedBy({ prompt_cache_key: `other ${at}` }));
    expect(others.size).toBeGreaterThan(1);
    await relay.gateway.root.must("PUT", "/api/channel/", { id: home, status: 2 });
    const next = await servedBy({ prompt_cache_key: "talk 1" });
    expect(next).not.toBe(home);
    expect(await servedBy({ prompt_cache_key: "talk 1" })).toBe(next);
    const metrics = await (await fetch(`${relay.gateway.adminUrl}/metrics`)).text();
    expect(metrics).toMatch(/fairway_affinity_requests_total\{rule="named",result="hit"\} 9/);
  });

  it("follows the operator's rules, which may bind a failed request to its channel", async () => {
    const rule = { name: "own", key_sources: [{ type: "header", name: "X-Talk" }], skip_retry_on_failure: true };
    await relay.gateway.option("ChannelAffinityRules", JSON.stringify([rule]));
    await relay.gateway.option("RetryTimes", 2);
    const id = await relay.gateway.channel("own-rule", { priority: 9 });
    const talk = async (name: string) => {
      const headers = { authorization: `Bearer ${relay.key}`, "content-type": "application/json", "x-talk": name };
      const response = await relay.gateway.post("/v1/chat/completions", chat("own-rule"), relay.key, { headers });
      await response.text();
      return response.status;
    };
    await relay.gateway.channel("own-rule", { priority: 1 });
    expect(await talk("1")).toBe(200);
    await relay.gateway.root.must("PUT", "/api/channel/", { id, model_mapping: '{"own-rule":"status-500"}' });
    expect([await talk("1"), await talk("2")]).toEqual([500, 200]);
    await relay.gateway.option("RetryTimes", 0);
  });
});

describe("the health of channels", () => {
  it("shows a key that rests after a 429 for as long as the upstream requested", async () => {
    const id = await relay.gateway.channel("retry-after-40");
    await (await relay.ask("retry-after-40")).text();
    const health = await relay.gateway.root.must<ChannelHealth[]>("GET", "/api/channel/health");
    const [resting] = health.filter(({ channel_id: channelId }) => channelId === id);
    expect(resting).toMatchObject({ key_index: 0, state: "resting", model: "retry-after-40", consecutive_failures: 0 });
    expect(resting?.wait_ms).toBeGreaterThan(30_000);
    expect(resting?.wait_ms).toBeLessThanOrEqual(40_000);
  });
});
