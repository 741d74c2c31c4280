import { freshRedis } from "@fairway/testkit/databases";
import { startProxy, type Proxy } from "@fairway/testkit/proxy";
import { type Service, startRedis } from "@fairway/testkit/services";
import { setImmediate as immediate, setTimeout as pause } from "node:timers/promises";
import { Writable } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Secret } from "../lib/secret.ts";
import { createLog } from "../observability/log.ts";
import { checkRedis } from "./check.ts";
import { createRedisClient, RedisUnavailable, type RedisClient } from "./client.ts";
import { createKeys } from "./keys.ts";
import { createChannel } from "./pubsub.ts";
import { script } from "./script.ts";

const lines: string[] = [];
const out = new Writable({
  write(chunk: Buffer, _encoding, done) {
    lines.push(chunk.toString());
    done();
  },
});
const log = createLog({ level: "info", format: "json", out });
let service: Service;
let proxy: Proxy;
const clients: RedisClient[] = [];
beforeAll(async () => {
  service = await freshRedis();
  proxy = await startProxy(service.port);
});
afterAll(() => proxy.stop());
afterEach(async () => {
  Object.assign(proxy, { delayMs: 0, isStalled: false, isClosed: false, cutsAt: "" });
  for (const client of clients.splice(0)) await client.close();
});

function client(url = service.url, prefix = "t:"): RedisClient {
  const redis = createRedisClient({ url: new Secret(url), keys: createKeys(prefix), log, name: "test" });
  clients.push(redis);
  return redis;
}
const throughProxy = async () => {
  const redis = client(`redis://127.0.0.1:${proxy.port}`);
  await redis.ready(30_000);
  return redis;
};
const ping = { command: "ping", args: [] };

describe("the connection for commands", () => {
  it("sends the calls of one turn in one write and answers each separately", async () => {
    const redis = await throughProxy();
    await redis.sendOne(ping, 1_000);
    const before = proxy.exchanges;
    const double = script("return ARGV[1] * 2");
    const answers = await Promise.allSettled([
      redis.sendOne({ script: double, keys: [], args: [4] }, 1_000),
      redis.sendOne({ command: "hget", args: ["{a}"] }, 1_000),
      redis.sendOne({ script: double, keys: [], args: [5] }, 1_000),
    ]);
    expect(answers.map((answer) => (answer.status === "fulfilled" ? answer.value : "refused"))).toEqual([
      8,
      "refused",
      10,
    ]);
    // Redis did not know the script, so the same write is repeated once.
    expect(proxy.exchanges - before).toBe(2);
    expect(await redis.sendOne({ script: double, keys: [], args: [6] }, 1_000)).toBe(12);
    expect(proxy.exchanges - before).toBe(3);
    await redis.sendOne({ command: "script", args: ["flush"] }, 1_000);
    expect(await redis.sendOne({ script: double, keys: [], args: [7] }, 1_000)).toBe(14);
  });

  it("gives up after its time, and says that the command may have run", async () => {
    const redis = await throughProxy();
    proxy.isStalled = true;
    const started = performance.now();
    await expect(redis.sendOne(ping, 80)).rejects.toMatchObject({ name: "RedisUnavailable", mayHaveRun: true });
    await expect(redis.send([ping], 80)).rejects.toMatchObject({ name: "RedisUnavailable", mayHaveRun: true });
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it("fails at once while there is no connection, and works again when there is one", async () => {
    const redis = await throughProxy();
    const inFlight = redis.sendOne({ command: "blpop", args: ["nothing", 0] }, 10_000);
    await pause(30);
    proxy.isClosed = true;
    proxy.cut();
    await expect(inFlight).rejects.toMatchObject({ name: "RedisUnavailable", mayHaveRun: true });
    await expect(redis.sendOne(ping, 1_000)).rejects.toMatchObject({ name: "RedisUnavailable", mayHaveRun: false });
    expect(await redis.ready(50)).toBe(false);
    proxy.isClosed = false;
    expect(await redis.ready(30_000)).toBe(true);
    expect(await redis.sendOne(ping, 1_000)).toBe("PONG");
    log.flush();
    expect(lines.join("")).toMatch(/Redis does not answer.*Redis answers again/s);
  });

  it("is not ready between the end of its socket and the close: who asks again at once waits for the next one", async () => {
    const redis = await throughProxy();
    const countTries = async () => {
      for (let tries = 1; ; tries += 1) {
        const isAnswered = await redis.send([ping], 1_000).then(
          () => true,
          () => false,
        );
        if (isAnswered || tries === 1_000) return tries;
        await redis.ready(30_000);
      }
    };
    const asked: Promise<number>[] = [];
    proxy.cut();
    // Immediates run between the end of the socket and its close event.
    for (await immediate(); redis.isReady; await immediate()) asked.push(countTries());
    expect(Math.max(1, ...(await Promise.all(asked)))).toBeLessThan(5);
  });

  it("tells errors of Redis from its absence", async () => {
    const redis = client();
    await redis.ready(30_000);
    const error = await redis.sendOne({ command: "incr", args: ["a", "b"] }, 1_000).catch((cause: unknown) => cause);
    expect(error).not.toBeInstanceOf(RedisUnavailable);
    const [first, second] = await redis.send([{ command: "nonsense", args: [] }, ping], 1_000);
    expect(first).toBeInstanceOf(Error);
    expect(second).toBe("PONG");
  });
});

describe("a channel", () => {
  it("reaches other processes but not its sender, and reports a gap", async () => {
    const heard: string[] = [];
    const redis = await throughProxy();
    const other = client();
    await other.ready(30_000);
    const of = (from: RedisClient, sender: string) =>
      createChannel({
        redis: from,
        name: "changes",
        log,
        sender,
        onMessage: (text) => void heard.push(`${sender} hears ${text}`),
        onGap: () => void heard.push(`${sender} missed something`),
      });
    const [a, b] = [of(redis, "a"), of(other, "b")];
    await a.start();
    await b.start();
    await a.publish("tokens");
    await b.publish("options");
    await pause(100);
    expect(heard.sort()).toEqual(["a hears options", "b hears tokens"]);
    // The connection breaks again while the subscription is being renewed.
    proxy.cutsAt = "subscribe";
    proxy.cut();
    await pause(200);
    expect(heard).not.toContain("a missed something");
    proxy.cutsAt = "";
    await expect.poll(() => heard, { timeout: 5_000 }).toContain("a missed something");
    await b.publish("users");
    await expect.poll(() => heard, { timeout: 1_000 }).toContain("a hears users");
    proxy.isClosed = true;
    proxy.cut();
    await pause(50);
    await a.publish("users");
    expect(lines.join("")).toContain("a message could not be published");
    await a.stop();
    await b.stop();
  });
});

describe("the connection of a channel", () => {
  it("is replaced when it no longer answers, although it was not closed", async () => {
    const redis = await throughProxy();
    let gaps = 0;
    const channel = createChannel({
      redis,
      name: "silent",
      log,
      sender: "a",
      onMessage: () => {},
      onGap: () => void (gaps += 1),
      askEveryMs: 250,
    });
    await channel.start();
    await pause(1_000);
    expect(gaps).toBe(0);
    proxy.isStalled = true;
    await pause(1_250);
    proxy.isStalled = false;
    await expect.poll(() => gaps, { timeout: 10_000 }).toBeGreaterThan(0);
    await channel.stop();
  });
});

describe("the check at the start", () => {
  const refusal = async (redis: RedisClient, installation = "one") =>
    checkRedis(redis, installation, log).then(
      () => "passed",
      (error: Error) => `${error.name}: ${error.message}`,
    );

  it("passes, and warns of what may be lost", async () => {
    lines.length = 0;
    expect(await refusal(client(service.url, "check:"))).toBe("passed");
    expect(lines.join("")).toContain("Redis keeps no append-only file");
    expect(lines.join("")).not.toContain("may evict");
    const admin = client();
    await admin.ready(30_000);
    const set = (name: string, value: string) =>
      admin.sendOne({ command: "config", args: ["set", name, value] }, 1_000);
    await set("maxmemory", "1gb");
    await set("maxmemory-policy", "volatile-lru");
    expect(await refusal(client(service.url, "check:"))).toBe("passed");
    expect(lines.join("")).toContain("Redis may evict limits and what is known of channels");
    await set("maxmemory-policy", "noeviction");
    await set("maxmemory", "1mb");
    expect(await refusal(client(service.url, "check:"))).toContain("raise its maxmemory");
    await set("maxmemory", "0");
  });

  it("refuses two databases under one prefix", async () => {
    expect(await refusal(client(service.url, "mine:"), "one")).toBe("passed");
    expect(await refusal(client(service.url, "mine:"), "one")).toBe("passed");
    expect(await refusal(client(service.url, "mine:"), "two")).toMatch(
      /FAIRWAY_REDIS_URL.*FAIRWAY_REDIS_PREFIX belong to another database/,
    );
    expect(await refusal(client(service.url, "theirs:"), "two")).toBe("passed");
  });

  it("refuses a Redis that is not there", { timeout: 20_000 }, async () => {
    expect(await refusal(client("redis://127.0.0.1:1"))).toMatch(
      /FAIRWAY_REDIS_URL cannot be used: it cannot be reached \(.*ECONNREFUSED/,
    );
    // The log has one line for it, without the stack of the library.
    expect(lines.join("")).not.toContain("127.0.0.1:1");
  });

  it("refuses a database that Redis has not, instead of using another", async () => {
    const { port } = new URL(service.url);
    expect(await refusal(client(`redis://127.0.0.1:${port}/99`))).toContain("DB index is out of range");
    expect(await refusal(client(`redis://127.0.0.1:${port}/1`))).toBe("passed");
  });

  it("refuses a user who may not use streams, or not its own keys and channels", async () => {
    const admin = client();
    await admin.ready(30_000);
    const { port } = new URL(service.url);
    const readRefusal = async (name: string, ...rules: string[]) => {
      const args = ["setuser", name, "on", ">secret", "+@all", ...rules];
      await admin.sendOne({ command: "acl", args }, 1_000);
      return refusal(client(`redis://${name}:secret@127.0.0.1:${port}`, "acl:"));
    };
    const cure = "allow it all commands, keys and channels that begin with FAIRWAY_REDIS_PREFIX";
    for (const rules of [
      ["~*", "&*", "-@stream"],
      ["~*", "&*", "-xautoclaim"],
      ["~*", "resetchannels"],
      ["~*", "&*", "-subscribe"],
      ["~other:*", "&*"],
    ]) {
      const message = await readRefusal(`user-${rules.join("").replaceAll(/[^a-z]/g, "")}`, ...rules);
      expect(message, rules.join(" ")).toContain("its user may not do what is needed (NOPERM");
      expect(message).toContain(cure);
    }
    expect(await readRefusal("narrow", "~acl:*", "&acl:*")).toBe("passed");
    const left = await admin.sendOne({ command: "keys", args: ["*probe:*"] }, 1_000);
    expect(left).toEqual([]);
  });

  it("refuses a node of a cluster that is named as one server, whether it says so or hides it", async () => {
    const node = await startRedis({ isClusterNode: true });
    const admin = client(node.url);
    await admin.ready(30_000);
    expect(await refusal(client(node.url))).toContain(
      "it is a node of a Redis Cluster: write redis+cluster://, or rediss+cluster:// for TLS",
    );
    const rules = ["setuser", "managed", "on", ">secret", "~*", "&*", "+@all", "-info"];
    await admin.sendOne({ command: "acl", args: rules }, 1_000);
    const managed = client(`redis://managed:secret@127.0.0.1:${node.port}`);
    expect(await refusal(managed)).toContain("it is a node of a Redis Cluster");
    await node.stop();
  });

  it(
    "refuses a replica, a wrong password, a user without scripts, one without writes",
    { timeout: 30_000 },
    async () => {
      const replica = await startRedis();
      const admin = client(replica.url);
      await admin.ready(30_000);
      await admin.sendOne({ command: "replicaof", args: ["127.0.0.1", service.port] }, 1_000);
      expect(await refusal(client(replica.url))).toContain("it is a read-only replica: name the primary");
      await admin.sendOne({ command: "replicaof", args: ["no", "one"] }, 1_000);
      for (const [name, ...rules] of [
        ["scriptless", "+@all", "-@scripting"],
        ["reader", "+@read", "+@connection", "+info"],
      ])
        await admin.sendOne(
          { command: "acl", args: ["setuser", name as string, "on", ">secret", "~*", "&*", ...rules] },
          1_000,
        );
      await admin.sendOne({ command: "config", args: ["set", "requirepass", "right"] }, 1_000);
      const as = (who: string) => client(`redis://${who}@127.0.0.1:${replica.port}`);
      expect(await refusal(as(":wrong"))).toContain("it refuses the user name or password");
      expect(await refusal(client(replica.url))).toContain("it refuses the user name or password");
      expect(await refusal(as("scriptless:secret"))).toContain("it does not run scripts");
      expect(await refusal(as("reader:secret"))).toContain("its user may not do what is needed");
      expect(await refusal(as(":right"))).toBe("passed");
      await replica.stop();
    },
  );
});
