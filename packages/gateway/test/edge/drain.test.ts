import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import WebSocket, { WebSocketServer } from "ws";
import { books, consumeRows, startRelayApp, type RelayApp } from "../kit/relay-app.ts";

let gateway: RelayApp | undefined;
afterEach(() => gateway?.close());

const body = (model: string) => ({ model, stream: true, messages: [{ role: "user", content: "hi" }] });

it("lets a running stream finish, refuses new connections and settles before it exits", async () => {
  gateway = await startRelayApp();
  await gateway.channel("slow-50+long-20");
  const key = await gateway.token();
  const response = await gateway.post("/v1/chat/completions", body("slow-50+long-20"), key);
  const stopped = gateway.app.stop();
  expect((await fetch(`${gateway.adminUrl}/readyz`)).status).toBe(503);
  expect((await fetch(`${gateway.adminUrl}/livez`)).status).toBe(200);
  await expect(fetch(gateway.url)).rejects.toThrow();
  expect((await response.text()).trimEnd().endsWith("data: [DONE]")).toBe(true);
  await stopped;
  const { quota, held, ledger, holds } = await books(gateway);
  expect({ held, holds }).toEqual({ held: 0, holds: 0 });
  expect(ledger).toBe(quota);
  expect(quota).toBeLessThan(0);
});

it("serves requests that wait for a channel, and refuses those that would wait beyond the drain", async () => {
  gateway = await startRelayApp({ FAIRWAY_DRAIN_SECONDS: "2" });
  const setting = JSON.stringify({ limits: { concurrency: 1 } });
  await gateway.channel("slow-50+long-10", { setting });
  await gateway.channel("slow-50+long-2000", { setting });
  await gateway.option("ChannelQueueSeconds", 60);
  const key = await gateway.token();
  const ask = (model: string) => (gateway as RelayApp).post("/v1/chat/completions", body(model), key);
  const running = [await ask("slow-50+long-10"), await ask("slow-50+long-2000")];
  const waiting = [ask("slow-50+long-10"), ask("slow-50+long-2000")];
  await new Promise((resolve) => setTimeout(resolve, 200));
  const stopped = gateway.app.stop();
  const [served, refused] = await Promise.all(waiting);
  expect((await served?.text())?.trimEnd().endsWith("data: [DONE]")).toBe(true);
  expect([refused?.status, (await refused?.text())?.includes("server_shutdown")]).toEqual([503, true]);
  for (const response of running) await response.text();
  await stopped;
  const { held, holds } = await books(gateway);
  expect({ held, holds }).toEqual({ held: 0, holds: 0 });
});

it("waits for a submission under way, and charges it", async () => {
  gateway = await startRelayApp({ FAIRWAY_DRAIN_SECONDS: "5" });
  await gateway.option("ModelPrice", JSON.stringify({ mj_imagine: 0.1 }));
  await gateway.channel("mj_imagine", { type: 2, key: "k" });
  gateway.upstream.script("/mj/submit/imagine", async () => {
    await new Promise((resolve) => setTimeout(resolve, 700));
    return { body: { code: 1, description: "ok", result: "slow-1" } };
  });
  const key = await gateway.token();
  const asked = gateway.post("/mj/submit/imagine", { prompt: "a cat" }, key);
  await new Promise((resolve) => setTimeout(resolve, 200));
  const stopped = gateway.app.stop();
  expect((await asked).status).toBe(200);
  await stopped;
  const { quota, ledger, holds } = await books(gateway);
  expect({ quota, ledger, holds }).toEqual({ quota: -50_000, ledger: -50_000, holds: 0 });
});

/** An upstream of realtime sessions that thinks about each for so long, as a channel. */
async function slowRealtime(ms: number, { channel }: RelayApp) {
  const sockets = new WebSocketServer({ noServer: true });
  const slow = createServer().on("upgrade", (request, socket, head) => {
    setTimeout(() => sockets.handleUpgrade(request, socket, head, () => undefined), ms);
  });
  await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
  await channel("rt-slow", { base_url: `http://127.0.0.1:${(slow.address() as AddressInfo).port}` });
  return slow;
}

it("waits for a realtime session that is being opened", async () => {
  gateway = await startRelayApp({ FAIRWAY_DRAIN_SECONDS: "2" });
  const slow = await slowRealtime(600, gateway);
  const headers = { authorization: `Bearer ${await gateway.token()}` };
  const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/v1/realtime?model=rt-slow`, { headers });
  const ended = new Promise<number>((resolve, reject) => socket.once("close", resolve).once("error", reject));
  await new Promise((resolve) => setTimeout(resolve, 200));
  await gateway.app.stop();
  expect(await ended).toBe(1011);
  expect((await books(gateway)).holds).toBe(0);
  slow.close();
});

it("refuses a realtime session that is still being opened when the drain is over", async () => {
  gateway = await startRelayApp({ FAIRWAY_DRAIN_SECONDS: "1" });
  const slow = await slowRealtime(4_000, gateway);
  const headers = { authorization: `Bearer ${await gateway.token()}` };
  const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/v1/realtime?model=rt-slow`, { headers });
  const answered = new Promise<number>((resolve) => {
    socket.once("open", () => resolve(101)).once("unexpected-response", (_, { statusCode = 0 }) => resolve(statusCode));
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  const stopped = gateway.app.stop();
  expect(await answered).toBe(503);
  socket.on("error", () => undefined).terminate();
  await stopped;
  expect((await books(gateway)).holds).toBe(0);
  slow.close();
});

it("tries no further channel for a request that is cut off between two attempts", async () => {
  gateway = await startRelayApp({ FAIRWAY_DRAIN_SECONDS: "1" });
  const { upstream, database, root, app } = gateway;
  await gateway.option("RetryTimes", 3);
  await gateway.channel("moved", { priority: 10 });
  const next = await gateway.channel("moved");
  const limit = { scope: "channel", subject: String(next), period: "week", quota_limit: 10 ** 9 };
  await root.must("POST", "/api/budget/", limit);
  const key = await gateway.token();
  upstream.script("/chat/completions", async () => {
    // The budget of the next channel is asked for in the database, which another process keeps for itself.
    await database.raw.run("begin immediate", []);
    return { status: 500, body: "broken" };
  });
  const asked = gateway.post("/v1/chat/completions", body("moved"), key);
  await expect.poll(() => upstream.requests.length).toBe(1);
  const stopped = app.stop();
  await expect
    .poll(() => gateway?.logLines(), { timeout: 5_000 })
    .toContain("shutdown deadline reached, aborting requests");
  expect(upstream.requests).toHaveLength(1);
  upstream.script("/chat/completions", () => ({ status: 500, body: "asked again" }));
  await database.raw.run("rollback", []);
  const response = await asked;
  expect([response.status, (await response.text()).includes("server_shutdown")]).toEqual([503, true]);
  await stopped;
  expect(upstream.requests).toHaveLength(1);
  expect((await books(gateway)).holds).toBe(0);
});

it("cuts off a request that still reads the files for its first attempt", async () => {
  gateway = await startRelayApp({ FAIRWAY_DRAIN_SECONDS: "1" });
  const { upstream, app } = gateway;
  await gateway.option("WorkerUrl", `${upstream.url}/worker`);
  await gateway.channel("llava", { type: 4 });
  upstream.script("/worker", () => new Promise((resolve) => setTimeout(resolve, 8_000, { body: "late" })));
  const url = "https://example.com/picture.png";
  const messages = [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }];
  const asked = gateway.post("/v1/chat/completions", { model: "llava", messages }, await gateway.token());
  await expect.poll(() => upstream.requests.length).toBe(1);
  const since = performance.now();
  const stopped = app.stop();
  expect((await asked).status).toBe(503);
  await stopped;
  expect(performance.now() - since).toBeLessThan(6_000);
  expect((await books(gateway)).holds).toBe(0);
});

it("sends a realtime session an error, closes it with 1011 and bills its answers", async () => {
  gateway = await startRelayApp({ FAIRWAY_DRAIN_SECONDS: "1" });
  await gateway.channel("gpt-realtime");
  const key = await gateway.token();
  const headers = { authorization: `Bearer ${key}` };
  const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/v1/realtime?model=gpt-realtime`, { headers });
  const frames: string[] = [];
  const answered = new Promise<void>((resolve) =>
    socket.on("message", (data: Buffer) => {
      frames.push(data.toString("utf8"));
      if (frames.at(-1)?.includes("session.created")) socket.send('{"type":"response.create"}');
      if (frames.at(-1)?.includes("response.done")) resolve();
    }),
  );
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  await answered;
  await gateway.app.stop();
  expect(await closed).toBe(1011);
  expect(frames.at(-1)).toContain("server_shutdown");
  const [row] = await consumeRows(gateway);
  expect(row).toMatchObject({ prompt_tokens: 20, completion_tokens: 10, other: { end_reason: "server_shutdown" } });
  expect((await books(gateway)).holds).toBe(0);
});

it("cuts off streams that outlive the drain with an error event, billed for what was delivered", async () => {
  gateway = await startRelayApp({ FAIRWAY_DRAIN_SECONDS: "1" });
  await gateway.channel("slow-50+long-2000");
  const key = await gateway.token();
  const response = await gateway.post("/v1/chat/completions", body("slow-50+long-2000"), key);
  await gateway.app.stop();
  const text = await response.text();
  expect(text).not.toContain("[DONE]");
  expect(text).toContain("server_shutdown");
  const [row] = await consumeRows(gateway);
  expect(row).toMatchObject({ other: { end_reason: "server_shutdown" } });
  expect(row?.completion_tokens).toBeGreaterThan(5);
  expect((await books(gateway)).holds).toBe(0);
});
