// Bodies that are announced and never come: without a key, with one, compressed.
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { startRelayApp, type RelayApp } from "../kit/relay-app.ts";

let gateway: RelayApp;
let key: string;
beforeAll(async () => {
  gateway = await startRelayApp();
  key = await gateway.token();
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
});
afterEach(() => vi.clearAllTimers());
afterAll(async () => {
  vi.useRealTimers();
  await gateway.close();
});

it.each([
  ["a sign-in", "/api/user/login", ""],
  ["a request of the relay", "/v1/chat/completions", ""],
  ["a compressed request of the relay", "/v1/chat/completions", "Content-Encoding: gzip\r\n"],
])(
  "%s is answered when its body does not come",
  async (_name, path, more) => {
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${more}`;
    let received = "";
    const ended = new Promise<void>((resolve, reject) => {
      const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1", () =>
        socket.write(`${head}Content-Length: 50\r\n\r\n`),
      );
      socket.on("data", (chunk) => (received += chunk.toString("latin1")));
      socket.once("error", reject).once("close", () => resolve());
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    vi.advanceTimersByTime(60_000);
    await ended;
    expect(received).toContain("request_timeout");
  },
  15_000,
);

// @weakness Exhaustion: A report of a drawing is read before it is known who may send it
it("a drawing report without permission is refused before its body has arrived", async () => {
  const headers = { "content-type": "application/json", "content-length": 1_000_000 };
  const request = httpRequest(`${gateway.url}/mj/notify?c=1&r=x&h=&t=abc`, { method: "POST", headers });
  const answered = new Promise<number | undefined>((resolve, reject) => {
    request.on("error", reject).on("response", ({ statusCode }) => resolve(statusCode));
  });
  request.write("{");
  expect(await answered).toBe(401);
  request.destroy();
});
