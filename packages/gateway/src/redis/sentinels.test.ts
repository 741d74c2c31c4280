import { type RedisGroup, startRedisGroup } from "@fairway/testkit/services";
import { setTimeout as pause } from "node:timers/promises";
import { Writable } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Secret } from "../lib/secret.ts";
import { createLog } from "../observability/log.ts";
import { checkRedis } from "./check.ts";
import { createRedisClient, type RedisClient } from "./client.ts";
import { createKeys } from "./keys.ts";
import { createChannel } from "./pubsub.ts";

const lines: string[] = [];
const out = new Writable({
  write(chunk: Buffer, _encoding, done) {
    lines.push(chunk.toString());
    done();
  },
});
const log = createLog({ level: "info", format: "json", out });
const ping = { command: "ping", args: [] };
let group: RedisGroup;
const clients: RedisClient[] = [];
beforeAll(async () => void (group = await startRedisGroup()));
afterAll(() => group.stop());
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

function client(url = group.url): RedisClient {
  const redis = createRedisClient({ url: new Secret(url), keys: createKeys("t:"), log, name: "test" });
  clients.push(redis);
  return redis;
}

async function info(redis: RedisClient, field: string): Promise<string | undefined> {
  const text = String(await redis.sendOne({ command: "info", args: [] }, 2_000));
  return new RegExp(`^${field}:(.*)\r$`, "m").exec(text)?.[1];
}

/** Polls until the condition is true; returns how long that took. */
async function until(isTrue: () => Promise<boolean>, ms = 15_000): Promise<number> {
  const started = performance.now();
  for (;;) {
    if (await isTrue().catch(() => false)) return performance.now() - started;
    if (performance.now() - started > ms) throw new Error(`it did not happen within ${ms} ms`);
    await pause(50);
  }
}

describe("the check at the start, with sentinels", () => {
  const refusal = async (url: string) =>
    checkRedis(client(url), "one", log).then(
      () => "passed",
      (error: Error) => error.message,
    );
  const hosts = () => group.sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",");

  it("returns the primary that they name, although some of them are down", { timeout: 20_000 }, async () => {
    expect(await refusal(group.url)).toBe("passed");
    expect(await refusal(group.url.replace("@", "@127.0.0.1:1,127.0.0.1:2,"))).toBe("passed");
    const redis = client();
    await redis.ready(30_000);
    expect([await info(redis, "tcp_port"), await info(redis, "role")]).toEqual([String(group.primary.port), "master"]);
  });

  it("names what is wrong, and no secret", { timeout: 30_000 }, async () => {
    lines.length = 0;
    const { password, sentinelPassword } = group;
    const url = (redis: string, query: string) => `redis+sentinel://:${redis}@${hosts()}/0?${query}`;
    const reported = [
      await refusal(url(password, `master=other&sentinel_password=${sentinelPassword}`)),
      await refusal(url(password, "master=mymaster&sentinel_password=wrong-guess")),
      await refusal(url(password, "master=mymaster")),
      await refusal(url("wrong-guess", `master=mymaster&sentinel_password=${sentinelPassword}`)),
      await refusal(
        "redis+sentinel://:wrong-guess@127.0.0.1:1,127.0.0.1:2/0?master=mymaster&sentinel_password=wrong-guess",
      ),
    ];
    const prefix = "the Redis of FAIRWAY_REDIS_URL cannot be used: ";
    expect(reported).toEqual([
      `${prefix}its sentinels know no primary "other": correct master=`,
      `${prefix}its sentinels refuse the user name or password: correct sentinel_password=`,
      `${prefix}its sentinels refuse the user name or password: add sentinel_password=`,
      `${prefix}it refuses the user name or password`,
      expect.stringMatching(/it cannot be reached \(no sentinel answers: 127\.0\.0\.1:1 .*ECONNREFUSED.*start it, or/),
    ]);
    log.flush();
    expect(`${reported.join()}${lines.join("")}`).not.toMatch(/wrong-guess|secret-of/);
  });
});

describe("connections through sentinels", () => {
  it("leave a primary that hangs for the new one, and do not come back to it", { timeout: 60_000 }, async () => {
    const redis = client();
    const heard: string[] = [];
    let gaps = 0;
    const of = (sender: string) =>
      createChannel({
        redis,
        name: "changes",
        log,
        sender,
        onMessage: (text) => void heard.push(text),
        onGap: () => (gaps += 1),
      });
    const [one, other] = [of("one"), of("other")];
    for (const channel of [one, other]) await channel.start();
    expect(await redis.ready(30_000)).toBe(true);
    const reader = redis.open("settler", 15_000);
    const blocked = reader.call("blpop", "t:nothing", 0).then(
      () => "answered",
      () => "broken off",
    );
    await pause(100);

    process.kill(group.primary.pid, "SIGSTOP");
    await until(async () => (await info(redis, "tcp_port")) === String(group.replica.port));
    expect(await blocked).toBe("broken off");
    await until(async () => gaps >= 2);
    await one.publish("tokens");
    await until(async () => heard.includes("tokens"));

    process.kill(group.primary.pid, "SIGCONT");
    await pause(1_500);
    expect(await info(redis, "tcp_port")).toBe(String(group.replica.port));
    await redis.sendOne({ command: "set", args: ["t:written", "1"] }, 1_000);
    for (const channel of [one, other]) await channel.stop();
  });

  it("are replaced when all sentinels return after an outage", { timeout: 40_000 }, async () => {
    const redis = client();
    expect(await redis.ready(30_000)).toBe(true);
    for (const sentinel of group.sentinels) await sentinel.kill("SIGKILL");
    await pause(200);
    expect(await redis.sendOne(ping, 1_000)).toBe("PONG");
    await redis
      .sendOne({ command: "client", args: ["kill", "type", "normal", "skipme", "no"] }, 1_000)
      .catch(() => undefined);
    await pause(100);
    expect(await redis.ready(500)).toBe(false);
    expect(redis.lastError?.message).toContain("no sentinel answers");
    for (const sentinel of group.sentinels) await sentinel.restart();
    expect(await until(async () => (await redis.sendOne(ping, 500)) === "PONG")).toBeLessThan(5_000);
    expect(await info(redis, "role")).toBe("master");
  });
});
