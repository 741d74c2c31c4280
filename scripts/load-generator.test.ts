import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { ask } from "../packages/testkit/load/measure.ts";
import { startScript } from "../packages/testkit/load/systems.ts";

const SLOW_MS = 300;

/** Sends requests to a server with the load generator, one after the other at a fixed rate. */
async function askServer(server: Server, perSecond: number, samples: number) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close().closeAllConnections();
  });
  const { child } = await startScript("generator.ts");
  onTestFinished(() => void child.kill());

  const { port } = server.address() as AddressInfo;
  const load = { kind: "open", perSecond, samples } as const;
  return ask(child, { port, key: "none", model: "any", isStream: false, load });
}

test("an open loop leaves connections alone that the server closed while they rested", async () => {
  let asked = 0;
  const server = createServer({ keepAliveTimeout: 100, keepAliveTimeoutBuffer: 0 }, (_, response) => {
    const isSlow = asked < 4 || asked > 60;
    asked++;
    void sleep(isSlow ? SLOW_MS : 0).then(() => response.end("{}"));
  });

  expect(await askServer(server, 50, 70)).toMatchObject({ good: 70, failed: 0, firstFailure: "" });
});

test("an open loop stops using a connection a second before the server closes it", async () => {
  let connections = 0;
  const server = createServer({ keepAliveTimeout: 2_000 }, (_, response) => response.end("{}"));
  server.on("connection", () => connections++);

  expect(await askServer(server, 0.8, 3)).toMatchObject({ good: 3, failed: 0 });
  expect(connections).toBe(3);
});
