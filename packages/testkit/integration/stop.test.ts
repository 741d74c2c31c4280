import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { startGateway } from "../src/index.ts";

const REQUEST = "GET /api/status HTTP/1.1\r\nHost: gateway\r\n\r\n";

async function ask(socket: Socket): Promise<string> {
  socket.write(REQUEST);
  let text = "";
  while (!/\r\n\r\n[^]*\}/.test(text)) {
    const [chunk] = (await once(socket, "data")) as [Buffer];
    text += chunk.toString();
  }
  return text;
}

test("a connection that is idle when the stop begins gets one more answer, which closes it", async () => {
  const gateway = await startGateway({ env: { FAIRWAY_DRAIN_IDLE_SECONDS: "30" } });
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  expect(await ask(socket)).toMatch(/^HTTP\/1\.1 200 .*\r\nConnection: keep-alive/s);
  const stopped = gateway.stop();
  await gateway.logged("stopping");
  await expect(fetch(gateway.url)).rejects.toThrow();
  const ended = once(socket, "end");
  expect(await ask(socket)).toMatch(/^HTTP\/1\.1 200 .*\r\nConnection: close/s);
  await ended;
  // Nothing is open, so the stop does not wait for the rest of the 30 seconds.
  const started = performance.now();
  expect(await stopped).toBe(0);
  expect(performance.now() - started).toBeLessThan(20_000);
});
