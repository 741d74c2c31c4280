import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { Delivery, DeliveryTicker, type TickerSettings } from "./delivery.ts";

const MUCH = Buffer.alloc(32 * 1024 * 1024, "x");
const BEAT = Buffer.from(": ping\n\n");

const opened: (Server | Socket)[] = [];
afterEach(() => {
  for (const each of opened.splice(0)) {
    if ("destroy" in each) each.destroy();
    else each.closeAllConnections();
    if ("close" in each) each.close();
  }
});

/** A client that sends `requests` at once and reads nothing on its own. */
async function client(handle: RequestListener, requests = "GET / HTTP/1.1\r\nhost: x\r\n\r\n"): Promise<Socket> {
  const server = createServer(handle);
  opened.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  opened.push(socket);
  socket.pause().write(requests);
  return socket;
}

function ticking(settings: Partial<TickerSettings>): DeliveryTicker {
  return new DeliveryTicker({ heartbeatMs: 0, stuckMs: 60_000, ...settings });
}

describe("a client that reads nothing", () => {
  it.each([
    ["sound or another answer that is no stream", (delivery: Delivery) => delivery.write(MUCH, () => undefined)],
    ["the rest of an answer that has ended", (delivery: Delivery) => delivery.end(MUCH)],
    ["an error that breaks the answer off", (delivery: Delivery) => delivery.breakOff(MUCH)],
  ])("is cut off, and does not keep %s in memory", async (_what, send) => {
    const ticker = ticking({ stuckMs: 300 });
    const closed = Promise.withResolvers<string>();
    await client((_request, response) => {
      response.once("close", () => closed.resolve("closed"));
      const delivery = new Delivery(response, ticker);
      delivery.sendHead({});
      send(delivery);
    });
    expect(await Promise.race([closed.promise, sleep(3_000, "open")])).toBe("closed");
  });

  it("keeps its connection for the next request when it reads again", async () => {
    const ticker = ticking({ stuckMs: 300 });
    const socket = await client((request, response) => {
      const delivery = new Delivery(response, ticker);
      delivery.sendHead({});
      if (request.url === "/") delivery.end(MUCH);
      else setTimeout(() => delivery.end(Buffer.from("later")), 900);
    });
    let received = "";
    socket.on("data", (bytes: Buffer) => (received = (received + bytes.toString("latin1")).slice(-64)));
    socket.resume();
    while (!received.endsWith("0\r\n\r\n")) await sleep(20);
    received = "";
    socket.write("GET /next HTTP/1.1\r\nhost: x\r\n\r\n");
    await sleep(1_500);
    expect(received).toContain("later");
  });
});

describe("a keep-alive", () => {
  it("does not follow an answer that waits for an earlier one of its connection", async () => {
    const ticker = ticking({ heartbeatMs: 50 });
    const responses = new Set<unknown>();
    const failures: Error[] = [];
    await client((_request, response) => {
      response.on("error", (error) => failures.push(error));
      const delivery = new Delivery(response, ticker);
      delivery.keepAlive = () => BEAT;
      delivery.watch();
      if (responses.size > 0) response.writeHead(500).end("a failure");
      responses.add(response);
    }, "GET / HTTP/1.1\r\nhost: x\r\n\r\n".repeat(2));
    await sleep(800);
    expect([responses.size, failures]).toEqual([2, []]);
  });

  it("is not sent early for the first request after a pause", async () => {
    const ticker = ticking({ heartbeatMs: 1_000 });
    ticker.now = performance.now() - 60_000;
    let isHeadSent: boolean | undefined;
    await client((_request, response) => {
      const delivery = new Delivery(response, ticker);
      delivery.keepAlive = () => BEAT;
      delivery.watch();
      setTimeout(() => (isHeadSent = delivery.isHeadSent), 600);
    });
    await expect.poll(() => isHeadSent).toBe(false);
  });

  it("does not let judged text follow the end", async () => {
    const ticker = ticking({});
    const failures: Error[] = [];
    const answered = Promise.withResolvers<boolean>();
    await client((_request, response) => {
      response.on("error", (error) => failures.push(error));
      const delivery = new Delivery(response, ticker);
      delivery.sendHead({});
      delivery.end(MUCH);
      answered.resolve(delivery.write(BEAT, () => undefined));
    });
    expect(await answered.promise).toBe(true);
    await sleep(50);
    expect(failures).toEqual([]);
  });
});
