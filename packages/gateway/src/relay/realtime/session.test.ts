import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import WebSocket, { WebSocketServer } from "ws";
import { RealtimeSession, type SessionBill, type SessionLimits } from "./session.ts";

let servers: WebSocketServer[] = [];
beforeEach(() => {
  servers = [];
});
afterEach(() => {
  for (const server of servers) {
    for (const client of server.clients) client.terminate();
    server.close();
  }
});

/** Opens both ends of one connection. */
async function pair(): Promise<{ near: WebSocket; far: WebSocket }> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  servers.push(server);
  const accepted = new Promise<WebSocket>((resolve) => server.once("connection", resolve));
  await new Promise((resolve) => server.once("listening", resolve));
  const near = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const far = await accepted;
  if (near.readyState !== WebSocket.OPEN) await new Promise((resolve) => near.once("open", resolve));
  return { near, far };
}

async function session(limits: Partial<SessionLimits>) {
  const client = await pair();
  const upstream = await pair();
  const frames: string[] = [];
  const bill: SessionBill = {
    send: () => true,
    take: (frame) => frames.push(frame.toString("utf8")) > 0,
    isOpen: false,
    openResponses: [],
    over: () => undefined,
    onExhausted: undefined,
    onLimit: undefined,
  };
  const rest = { idleMs: 60_000, totalMs: 60_000, lingerMs: 0, pingMs: 60_000, deadMs: 60_000 };
  const running = new RealtimeSession(client.far, upstream.near, bill, { ...rest, ...limits });
  const closed = (socket: WebSocket) =>
    new Promise<string>((resolve) => socket.once("close", (code, why) => resolve(`${code} ${why.toString("utf8")}`)));
  return { running, bill, frames, user: client.near, vendor: upstream.far, closed };
}

describe("a realtime session", () => {
  it("ends at its longest duration, however much is said", async () => {
    const { running, user, vendor, closed, frames } = await session({ totalMs: 1_000 });
    const talk = setInterval(() => vendor.send('{"type":"x"}'), 20);
    const ends = Promise.all([closed(user), closed(vendor)]);
    expect(await running.ended).toBe("stop");
    clearInterval(talk);
    expect(await ends).toEqual(["1000 the session is over", "1000 the session is over"]);
    expect(frames.length).toBeGreaterThan(3);
  });

  it("ends when neither side says anything; a frame of either one restarts the wait", async () => {
    const startedAt = performance.now();
    const { running, user } = await session({ idleMs: 200 });
    for (let i = 0; i < 4; i++) {
      await new Promise((resolve) => setTimeout(resolve, 80));
      user.send("still here");
    }
    expect(await running.ended).toBe("stop");
    expect(performance.now() - startedAt).toBeGreaterThan(480);
  });

  it("sends the client the reason, and the upstream only the code", async () => {
    const { running, bill, user, vendor, closed } = await session({});
    const said: string[] = [];
    const heard: string[] = [];
    user.on("message", (data: Buffer) => said.push(data.toString("utf8")));
    vendor.on("message", (data: Buffer) => heard.push(data.toString("utf8")));
    const end = closed(user);
    bill.onExhausted?.();
    expect(await running.ended).toBe("quota_exhausted");
    expect(await end).toBe("1008 The quota ran out while the answer was written.");
    expect(said.map((frame) => (JSON.parse(frame) as { type: string }).type)).toEqual(["error"]);
    expect(heard).toEqual([]);
  });

  it("ends when the client answers no ping, and stays open while it does", async () => {
    const startedAt = performance.now();
    const { running, user } = await session({ pingMs: 50, deadMs: 300 });
    await new Promise((resolve) => setTimeout(resolve, 500));
    user.pause();
    expect(await running.ended).toBe("client_abort");
    expect(performance.now() - startedAt).toBeGreaterThan(600);
  });

  it("reads a client that sends very many events more slowly, and loses none", async () => {
    const { user, vendor } = await session({});
    let heard = 0;
    vendor.on("message", () => heard++);
    for (let event = 0; event < 1_500; event++) user.send("x");
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(heard).toBeLessThanOrEqual(1_000);
    await expect.poll(() => heard, { timeout: 5_000 }).toBe(1_500);
  });
});
