// What clients do to their connections: nothing of it ends the process, outlives the connection or holds a stop up.
import { connect } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startRelayApp, type RelayApp } from "./relay-app.ts";

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

it("an offer of HTTP/2 is passed over, and the request is served as it is", async () => {
  expect(await statuses(get("/api/status", H2C), 1)).toEqual(["200"]);
  expect(await statuses(post("/v1/chat/completions", "{}", H2C), 1)).toEqual(["401"]);
});

it("an upgrade behind requests that are not answered yet waits for its turn, and is refused", async () => {
  const ahead = get("/v1/models").repeat(3);
  expect(await statuses(ahead + get("/v1/realtime?model=x", UPGRADE), 4)).toEqual(["401", "401", "401", "401"]);
});

it("answers that wait behind others on a connection with an upgrade hold no stop up", async () => {
  const asked = get("/v1/models").repeat(3) + get("/v1/nothing", UPGRADE);
  for (let round = 0; round < 5; round++) await statuses(asked, 2);
  const stoppedAt = performance.now();
  await gateway.app.stop();
  expect(performance.now() - stoppedAt).toBeLessThan(3_000);
});
