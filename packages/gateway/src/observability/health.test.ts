import { once } from "node:events";
import { createServer, request, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createHealth, type Dependency, type Health } from "./health.ts";
import { createLog } from "./log.ts";
import { createMetrics } from "./metrics.ts";

describe("health", () => {
  let server: Server;
  let health: Health;
  let p99Ms: number;
  let inflight: { count: number; limit: number };
  let now: number;
  let isAway = false;
  let failure: Error | undefined;
  const metrics = createMetrics({ version: "1" });
  const database: Dependency = {
    name: "database",
    check: () => (failure ? Promise.reject(failure) : Promise.resolve()),
  };

  beforeEach(async () => {
    p99Ms = 3;
    inflight = { count: 0, limit: 0 };
    now = 1_000_000;
    failure = undefined;
    health = createHealth({
      clock: { now: () => now },
      log: createLog({ level: "off", format: "text", out: new PassThrough() }),
      metrics,
      loopDelay: { p99Ms: () => p99Ms },
      steps: ["database", "listener"],
      dependencies: [database],
      listDegradations: () => [
        {
          part: "reservations",
          mode: "deny",
          isNormal: !isAway,
          detail: isAway ? "Redis is away: refused" : "in Redis",
        },
      ],
      inflight: () => inflight,
    });
    server = createServer(health.handle);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterEach(async () => {
    await health.stop();
    server.close();
  });

  const get = async (path: string, method = "GET") => {
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { method });
    return { status: response.status, text: await response.text() };
  };
  const start = () => {
    health.done("database");
    health.done("listener");
  };

  test("startup waits for every step", async () => {
    health.done("database");
    expect(await get("/startupz")).toEqual({ status: 503, text: "listener: not yet\n" });
    expect((await get("/readyz")).status).toBe(503);
    health.done("listener");
    expect(await get("/startupz")).toEqual({ status: 200, text: "ok\n" });
    expect(await get("/readyz")).toEqual({ status: 200, text: "ok\n" });
  });

  test("a stopping process is not ready, but live and started", async () => {
    start();
    health.drain();
    expect(await get("/readyz")).toEqual({ status: 503, text: "draining: the process is stopping\n" });
    expect(health.isDraining).toBe(true);
    expect(health.isReady).toBe(false);
    expect((await get("/startupz")).status).toBe(200);
    expect((await get("/livez")).status).toBe(200);
  });

  test("a slow event loop or too much work is not ready", async () => {
    start();
    p99Ms = 1_200;
    expect((await get("/readyz")).text).toBe("event loop: p99 delay 1200 ms\n");
    p99Ms = 999;
    inflight = { count: 10, limit: 10 };
    expect((await get("/readyz")).text).toBe("in-flight requests: 10 of 10\n");
    inflight = { count: 9, limit: 10 };
    expect((await get("/readyz")).status).toBe(200);
  });

  test("a dependency that is down shows in the list and in the metrics, and decides nothing", async () => {
    start();
    failure = new Error("connection refused");
    await health.start();
    now += 4_000;
    const { status, text } = await get("/readyz?verbose");
    expect(status).toBe(200);
    expect(text.split("\n")).toEqual([
      "[+] started ok",
      "[+] draining ok",
      "[+] event loop ok",
      "[+] in-flight requests ok",
      "[!] database down: connection refused, 4 s ago",
      "[+] reservations in Redis",
      "readyz passed",
      "",
    ]);
    isAway = true;
    expect((await get("/readyz?verbose")).text).toContain("\n[!] reservations Redis is away: refused\nreadyz passed\n");
    isAway = false;
    expect((await get("/metrics")).text).toContain('fairway_dependency_up{dependency="database"} 0');
  });

  test("a host whose addresses all refuse is reported by its code, because its error has no message", async () => {
    failure = Object.assign(new AggregateError([new Error("connect ECONNREFUSED ::1:1")]), { code: "ECONNREFUSED" });
    await health.start();
    expect((await get("/readyz?verbose")).text).toContain("[!] database down: ECONNREFUSED, 0 s ago");
  });

  test("the list names what failed", async () => {
    await health.start();
    const { status, text } = await get("/readyz?verbose");
    expect(status).toBe(503);
    expect(text).toMatch(/^\[-\] started: waiting for database, listener\n/);
    expect(text).toMatch(/\[\+\] database ok in \d+ ms, 0 s ago\n\[\+\] reservations in Redis\nreadyz failed\n$/);
  });

  test("other paths and methods are refused", async () => {
    expect((await get("/")).status).toBe(404);
    expect((await get("/livez", "POST")).status).toBe(405);
    expect((await get("/livez", "HEAD")).status).toBe(200);
  });

  test.each(["//", "http://[", "http://x:99999/livez"])("a path that is no address is refused: %s", async (path) => {
    const { port } = server.address() as AddressInfo;
    const [answer] = (await once(request({ port, path }).end(), "response")) as [IncomingMessage];
    expect(answer.resume().statusCode).toBe(404);
    expect((await get("/livez")).status).toBe(200);
  });
});
