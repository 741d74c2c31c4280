import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBooks, readBooks, isClean, type Baseline } from "../../chaos/books.ts";
import { send, type Outcome, type Target } from "../../chaos/client.ts";
import { ROOT_PASSWORD } from "../../src/gateway.ts";
import { runSql } from "../../src/sql.ts";
import { createVolume } from "../image.ts";
import { install, prepare, type Release } from "./release.ts";
import { createCli } from "./terminal.ts";
import { during, countLosses, report, SCENARIO_MODELS, type Traffic } from "./traffic.ts";
import { createWorld, NAMESPACE, type World } from "./world.ts";

const STREAMS = 100;
const ALL_DELIVERED = { refused: 0, cut: 0, unanswered: 0, left: 0 };
const DRAIN = { streamSeconds: 60, flushSeconds: 10 };
const RESOURCES = { requests: { cpu: "50m", memory: "256Mi" } };

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world?.stop());

describe("three replicas with MariaDB and Redis", () => {
  const outcomes: Outcome[] = [];
  let release: Release;
  let values: object;
  let target: Target;
  let database: string;
  let baseline: Baseline;

  /** Sends one short call that the books count. */
  const ask = async () => {
    const outcome = await send({ kind: "plain", model: SCENARIO_MODELS[1] ?? "", isStream: false }, target);
    outcomes.push(outcome);
    return outcome;
  };
  const untilBooksAreEqual = () =>
    expect
      .poll(async () => (await readBooks(database, baseline, outcomes)).findings, { timeout: 90_000, interval: 2_000 })
      .toSatisfy(isClean);
  const measured = async (title: string, event: () => Promise<unknown>) => {
    const traffic = await during(target, STREAMS, event);
    outcomes.push(...traffic.outcomes);
    report(title, traffic);
    if (countLosses(traffic) > 0) console.log(await release.warnings());
    return traffic;
  };

  beforeAll(async () => {
    await runSql(world.services.mariadb?.url ?? "", "CREATE DATABASE rollout CHARACTER SET utf8mb4");
    database = new URL("/rollout", world.services.mariadb?.url).href;
    const { hostname, port } = new URL(world.seen(database));
    values = {
      replicaCount: 3,
      minReadySeconds: 2,
      leaderElection: { backend: "lease" },
      drain: DRAIN,
      resources: RESOURCES,
      secrets: { initialRootPassword: ROOT_PASSWORD },
      database: { host: hostname, port: Number(port), name: "rollout", username: "fairway", password: "fairway" },
      redis: { url: world.seen(world.services.redis?.url) },
    };
    release = await install(world, "demo", values);
    console.log(`install of three replicas: ready after ${release.seconds.toFixed(0)} s`);
    target = { replica: "service", url: release.url, key: await prepare(world, release.url) };
    baseline = await openBooks(database);
  });

  it("elects its leader by a Lease that a pod holds", async () => {
    const lease = ["get", "lease", "demo-fairway", "-n", NAMESPACE, "-o", "jsonpath={.spec.holderIdentity}"];
    const holder = await world.cluster.kubectl(...lease);
    expect((await release.pods()).some((pod) => holder.startsWith(`${pod}-`))).toBe(true);
  });

  it("prints how long a pod took to start, and its memory while idle", async () => {
    for (const pod of await release.pods()) {
      const log = await world.cluster.kubectl("logs", pod, "-n", NAMESPACE);
      const ms = Number(/"listening".*"ms":(\d+)/.exec(log)?.[1]);
      const path = `/api/v1/namespaces/${NAMESPACE}/pods/${pod}:9090/proxy/metrics`;
      const metrics = await world.cluster.kubectl("get", "--raw", path);
      const bytes = Number(/^process_resident_memory_bytes (\S+)/m.exec(metrics)?.[1]);
      console.log(`${pod}: listening after ${ms} ms, ${(bytes / 1e6).toFixed(0)} MB resident`);
      expect(bytes).toBeLessThan(200e6);
    }
  });

  it("is read, forwarded and signed in to from a terminal, also when its pod is deleted", async () => {
    const folder = mkdtempSync(join(tmpdir(), "fairway-cli-"));
    const cli = createCli(world.cluster.kubeconfig, folder);
    const place = ["-n", NAMESPACE, "--selector", "app.kubernetes.io/instance=demo"];
    const leader = await cli.run("kube", "leader", ...place, "-o", "json");
    expect(leader.code, leader.err).toBe(0);
    const { leaders, leases } = JSON.parse(leader.out) as { leaders: string[]; leases: { holder: string }[] };
    expect(leases.map(({ holder }) => holder)).toEqual(leaders);

    for (let run = 0; run < 3; run++) {
      const started = performance.now();
      const status = await cli.run("kube", "status", ...place);
      console.log(`fairway kube status: ${(performance.now() - started).toFixed(0)} ms`);
      expect(status.out).toContain("3 of 3 pods ready");
    }

    const logs = await cli.run("kube", "logs", ...place);
    for (const pod of await release.pods()) expect(logs.out).toMatch(new RegExp(`^${pod} .*listening`, "m"));

    const forward = cli.start("kube", "port-forward", "0", ...place);
    const follow = cli.start("kube", "logs", "-f", ...place);
    try {
      await expect.poll(forward.said, { timeout: 20_000 }).toContain("Ctrl+C ends it");
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(forward.said())?.[0] ?? "";
      const status = () =>
        fetch(`${url}/api/status`).then(
          ({ status: code }) => code,
          () => 0,
        );
      expect(await status()).toBe(200);
      const [, pod = ""] = /through (\S+)/.exec(forward.said()) ?? [];
      await world.cluster.kubectl("delete", "pod", pod, "-n", NAMESPACE, "--grace-period=1", "--wait=false");
      await expect.poll(status, { timeout: 60_000 }).toBe(200);
      await expect.poll(follow.said, { timeout: 60_000 }).toMatch(/joins/);
      await world.cluster.kubectl("rollout", "status", "deployment/demo-fairway", "-n", NAMESPACE, "--timeout=120s");
    } finally {
      forward.child.kill();
      follow.child.kill();
    }

    const login = await cli.run("login", "--kube", ...place);
    expect(login.code, login.err).toBe(0);
    expect(login.err).toContain("as root");
    rmSync(folder, { recursive: true });
  });

  it("passes `helm test`", async () => {
    expect(await world.cluster.helm("test", "demo", "-n", NAMESPACE)).toContain("Succeeded");
  });

  it("loses no stream and no call in a rolling upgrade", async () => {
    const before = await release.pods();
    const traffic = await measured("rolling upgrade", () => release.upgrade("--set", "server.logLevel=debug"));
    const { slow } = traffic;
    expectAllDelivered(traffic);
    expect(slow.delivered).toBeGreaterThanOrEqual(STREAMS);
    const old = async () => (await release.pods()).filter((pod) => before.includes(pod));
    await expect.poll(old, { timeout: 90_000 }).toEqual([]);
  });

  it("loses no stream and no call when a node is drained", async () => {
    const traffic = await measured("drain of a node", async () => {
      await world.cluster.kubectl("drain", "n1", "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=180s");
      await world.cluster.kubectl("uncordon", "n1");
    });
    expectAllDelivered(traffic);
  });

  it("loses only the streams of a pod that is killed, and serves again within seconds", async () => {
    const { slow, short } = await measured("pod killed with SIGKILL", async () => {
      const [pod = ""] = await release.pods();
      await world.cluster.killContainer(NAMESPACE, pod);
      await expect.poll(() => release.readPodState(pod), { timeout: 60_000 }).toBe("1 restarts, ready: true");
    });
    expect(slow.cut + slow.unanswered).toBeLessThan(STREAMS);
    expect(slow.delivered).toBeGreaterThan(0);
    expect(short.delivered).toBeGreaterThan(short.unanswered + short.cut);
    expect(await ask()).toMatchObject({ completion: "delivered" });
  });

  it("loses no stream and no call in a rollback", async () => {
    const traffic = await measured("rollback", () =>
      world.cluster.helm("rollback", "demo", "1", "-n", NAMESPACE, "--wait", "--timeout", "180s"),
    );
    expectAllDelivered(traffic);
  });

  it("loses no stream and no call when it is scaled to five pods and back", async () => {
    const scale = async (count: number) => {
      const deployment = ["deployment/demo-fairway", "-n", NAMESPACE];
      await world.cluster.kubectl("scale", ...deployment, `--replicas=${count}`);
      await world.cluster.kubectl("rollout", "status", ...deployment, "--timeout=180s");
      await expect.poll(async () => (await release.pods()).length, { timeout: 120_000 }).toBe(count);
    };
    const traffic = await measured("five pods and back to three", async () => {
      await scale(5);
      await scale(3);
    });
    expectAllDelivered(traffic);
  });

  it("loses no stream and no call while the API server is away for 60 seconds, and has a leader afterwards", async () => {
    const lease = ["get", "lease", "demo-fairway", "-n", NAMESPACE, "-o", "jsonpath={.spec.renewTime}"];
    const renewed = () => world.cluster.kubectl(...lease);
    const before = await renewed();
    const traffic = await measured("API server away for 60 s", async () => {
      await world.cluster.setApiServerAway(true);
      await sleep(60_000);
      await world.cluster.setApiServerAway(false);
    });
    expectAllDelivered(traffic);
    await expect.poll(renewed, { timeout: 60_000 }).not.toBe(before);
    await world.cluster.kubectl("wait", "--for=condition=Ready", "node", "--all", "--timeout=90s");
  });

  it("cuts no stream when Redis and the database restart, and serves again", async () => {
    const { redis, mariadb } = world.services;
    for (const [title, server] of [
      ["restart of Redis", redis],
      ["restart of MariaDB", mariadb],
    ] as const) {
      const { slow } = await measured(title, async () => {
        await server?.kill("SIGTERM");
        await server?.restart();
        await expect.poll(async () => (await ask()).completion, { timeout: 60_000 }).toBe("delivered");
      });
      expect(slow.cut).toBe(0);
    }
  });

  it("has equal books: every delivered answer is charged once, at its price", async () => {
    await untilBooksAreEqual();
    const { charges, charged } = await readBooks(database, baseline, outcomes);
    console.log(`books: ${outcomes.length} requests, ${charges} charges, ${charged} quota, 0 differences`);
    expect(await release.exec("fairway-gateway", "ledger", "audit")).toContain(": 0 differences");
  });

  it("leaves its generated secrets when it is uninstalled, and serves again after an install on its database", async () => {
    const uninstall = async () => {
      await world.cluster.helm("uninstall", "demo", "-n", NAMESPACE, "--wait", "--timeout", "120s");
      await expect
        .poll(() => release.remains(), { timeout: 90_000, interval: 1_000 })
        .toEqual(["secret/demo-fairway-secrets"]);
    };
    await uninstall();
    release = await install(world, "demo", values);
    target = { ...target, url: release.url };
    expect(await ask()).toMatchObject({ completion: "delivered" });
    await untilBooksAreEqual();
    await uninstall();
  });
});

describe("two replicas with PostgreSQL, Secrets of the operator and a migration Job", () => {
  it("serve with an account that may not change tables, and leave nothing of their own behind", async () => {
    const { cluster, services } = world;
    const secret = (name: string, ...values: string[]) =>
      cluster.kubectl(
        "create",
        "secret",
        "generic",
        name,
        "-n",
        NAMESPACE,
        ...values.map((v) => `--from-literal=${v}`),
      );
    const owner = new URL(world.seen(services.postgres?.url));
    await secret("own-owner", `url=${owner.href}`);
    owner.username = await createClerk(services.postgres?.url ?? "");
    await secret("own-database", `url=${owner.href}`);
    await secret("own-redis", `url=${world.seen(services.redis?.url)}`);
    await secret(
      "own-secrets",
      `root-password=${ROOT_PASSWORD}`,
      "session-secret=session-secret-of-the-test",
      "encryption-key=encryption-key-of-the-test",
    );
    const release = await install(world, "own", {
      drain: DRAIN,
      resources: RESOURCES,
      secrets: { create: false, existingSecret: "own-secrets" },
      database: { type: "postgres", existingSecret: "own-database" },
      redis: { existingSecret: "own-redis", keyPrefix: "own:" },
      migrations: { mode: "job", job: { existingSecret: "own-owner" } },
      documents: {
        items: [{ kind: "OptionSet", metadata: { name: "site" }, spec: { values: { SystemName: "From the values" } } }],
      },
    });
    console.log(`install with PostgreSQL: ready after ${release.seconds.toFixed(0)} s`);
    expect(await cluster.helm("test", "own", "-n", NAMESPACE)).toContain("Succeeded");
    expect(await callRelease(release)).toMatchObject({ completion: "delivered" });
    await expect.poll(() => fetchSystemName(release), { timeout: 60_000, interval: 1_000 }).toBe("From the values");
    expect(await release.exec("fairway-gateway", "ledger", "audit")).toContain(": 0 differences");
    await cluster.helm("uninstall", "own", "-n", NAMESPACE, "--wait", "--timeout", "120s");
    await expect.poll(() => release.remains(), { timeout: 90_000, interval: 1_000 }).toEqual([]);
  });
});

describe("one replica with SQLite", () => {
  it("keeps its data when the pod is replaced, and its volume when it is uninstalled", async () => {
    const { cluster } = world;
    await createVolume(cluster, "small");
    const release = await install(world, "small", {
      replicaCount: 1,
      drain: DRAIN,
      resources: RESOURCES,
      secrets: { initialRootPassword: ROOT_PASSWORD },
      database: { type: "sqlite" },
      redis: { enabled: false },
    });
    console.log(`install with SQLite: ready after ${release.seconds.toFixed(0)} s`);
    expect(await cluster.helm("test", "small", "-n", NAMESPACE)).toContain("Succeeded");
    const key = await prepare(world, release.url);
    await cluster.kubectl("delete", "pod", "-n", NAMESPACE, "-l", "app.kubernetes.io/instance=small");
    await cluster.kubectl("rollout", "status", "deployment/small-fairway", "-n", NAMESPACE, "--timeout=90s");
    await expect.poll(async () => (await call(release, key)).completion, { timeout: 30_000 }).toBe("delivered");
    await cluster.helm("uninstall", "small", "-n", NAMESPACE, "--wait", "--timeout", "120s");
    await expect
      .poll(() => release.remains(), { timeout: 90_000, interval: 1_000 })
      .toEqual(["secret/small-fairway-secrets", "persistentvolumeclaim/small-fairway-data"]);
  });
});

function expectAllDelivered({ slow, short, persistent }: Traffic): void {
  expect({ slow, short, persistent }).toMatchObject({
    slow: ALL_DELIVERED,
    short: ALL_DELIVERED,
    persistent: ALL_DELIVERED,
  });
}

/** Creates an account that may only read and write rows; returns its name. */
async function createClerk(url: string): Promise<string> {
  for (const statement of [
    "CREATE ROLE clerk LOGIN",
    "GRANT USAGE ON SCHEMA public TO clerk",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO clerk",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO clerk",
  ])
    await runSql(url, statement);
  return "clerk";
}

async function fetchSystemName({ url }: Release): Promise<string> {
  const { data } = (await (await fetch(`${url}/api/status`)).json()) as { data: { system_name: string } };
  return data.system_name;
}

async function callRelease(release: Release): Promise<Outcome> {
  return call(release, await prepare(world, release.url));
}

function call({ url }: Release, key: string): Promise<Outcome> {
  return send({ kind: "plain", model: SCENARIO_MODELS[1] ?? "", isStream: false }, { replica: "service", url, key });
}
