// What clients do to their connections: nothing of it ends the process, outlives the connection or holds a stop up.
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startRelayApp, type RelayApp } from "../kit/relay-app.ts";

const UPGRADE =
  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
const H2C = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n";

let gateway: RelayApp;
beforeAll(async () => {
  gateway = await startRelayApp();
});
afterAll(() => gateway.close());

const get = (path: string, headers = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const post = (path: string, body: string, headers = "") =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${headers}\r\n${body}`;

/** Statuses of what comes back until that many are there, or the connection ends. */
function statuses(text: string, count: number): Promise<string[]> {
  return new Promise((resolve, reject) => {
    let received = "";
    const seen = () => [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status = ""]) => status);
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1", () => socket.write(text));
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      if (seen().length >= count) socket.destroy();
    });
    socket.once("error", reject).once("close", () => resolve(seen()));
  });
}

it("an offer of HTTP/2 is ignored, and the request is served", async () => {
  expect(await statuses(get("/api/status", H2C), 1)).toEqual(["200"]);
  expect(await statuses(post("/v1/chat/completions", "{}", H2C), 1)).toEqual(["401"]);
});

it("an upgrade behind open requests waits for its turn, and is refused", async () => {
  const ahead = get("/v1/models").repeat(3);
  expect(await statuses(ahead + get("/v1/realtime?model=x", UPGRADE), 4)).toEqual(["401", "401", "401", "401"]);
});

// @weakness Network: A request with two Host headers, or of HTTP/0.9, reads differently behind a proxy
it.each([
  ["two Host headers", "GET /api/status HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n"],
  ["HTTP/0.9", "GET /api/status HTTP/0.9\r\n\r\n"],
  ["no version", "GET /api/status\r\n\r\n"],
])("a request with %s is refused", async (_, text) => {
  expect((await statuses(text, 1)).filter((status) => status !== "400")).toEqual([]);
});

it("answers that wait on a connection with an upgrade do not delay a stop", async () => {
  const asked = get("/v1/models").repeat(3) + get("/v1/nothing", UPGRADE);
  for (let round = 0; round < 5; round++) await statuses(asked, 2);
  const stoppedAt = performance.now();
  await gateway.app.stop();
  expect(performance.now() - stoppedAt).toBeLessThan(3_000);
});

describe("abusive connections", () => {
  const bounded = { FAIRWAY_REQUEST_TIMEOUT_SECONDS: "1", FAIRWAY_MAX_CONNECTIONS_PER_ADDRESS: "5" };
  let small: RelayApp;
  beforeAll(async () => {
    small = await startRelayApp(bounded);
  });
  afterAll(() => small.close());
  const port = () => Number(new URL(small.url).port);

  // @weakness Exhaustion: A body that drips behind an answer keeps its connection for ever
  it("end when a request takes too long to arrive", { timeout: 30_000 }, async () => {
    const head = "GET /api/notice HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n";
    const socket = connect(port(), "127.0.0.1", () => socket.write(head));
    const drip = setInterval(() => socket.write("x"), 200);
    socket.on("error", () => undefined).resume();
    const openedAt = performance.now();
    await new Promise((resolve) => socket.once("close", resolve));
    clearInterval(drip);
    expect(performance.now() - openedAt).toBeLessThan(20_000);
  });

  // @weakness Exhaustion: One address takes all connections
  it("are refused beyond the share of an address", async () => {
    const sockets = Array.from({ length: 8 }, () => connect(port(), "127.0.0.1").on("error", () => undefined));
    await vi.waitFor(() => expect(sockets.filter(({ destroyed }) => destroyed).length).toBeGreaterThan(0));
    expect(sockets.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(5);
    for (const socket of sockets) socket.destroy();
  });
});
