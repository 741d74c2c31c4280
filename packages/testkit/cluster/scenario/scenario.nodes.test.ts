import { chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBooks, readBooks, isClean, type Baseline } from "../../chaos/books.ts";
import { send, type Outcome, type Target } from "../../chaos/client.ts";
import { ROOT_PASSWORD } from "../../src/gateway.ts";
import { runSql } from "../../src/sql.ts";
import { install, prepare, type Release } from "./release.ts";
import { createCli } from "./terminal.ts";
import { during, countLosses, report, SCENARIO_MODELS } from "./traffic.ts";
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
  let target: Target;
  let database: string;
  let baseline: Baseline;

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
    release = await install(world, "demo", {
      replicaCount: 3,
      minReadySeconds: 2,
      leaderElection: { backend: "lease" },
      drain: DRAIN,
      resources: RESOURCES,
      secrets: { initialRootPassword: ROOT_PASSWORD },
      database: { host: hostname, port: Number(port), name: "rollout", username: "fairway", password: "fairway" },
      redis: { url: world.seen(world.services.redis?.url) },
    });
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
    const { slow, short } = await measured("rolling upgrade", () => release.upgrade("--set", "server.logLevel=debug"));
    expect(slow).toMatchObject(ALL_DELIVERED);
    expect(short).toMatchObject(ALL_DELIVERED);
    expect(slow.delivered).toBeGreaterThanOrEqual(STREAMS);
    const old = async () => (await release.pods()).filter((pod) => before.includes(pod));
    await expect.poll(old, { timeout: 90_000 }).toEqual([]);
  });

  it("loses no stream and no call when a node is drained", async () => {
    const { slow, short } = await measured("drain of a node", async () => {
      await world.cluster.kubectl("drain", "n1", "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=180s");
      await world.cluster.kubectl("uncordon", "n1");
    });
    expect(slow).toMatchObject(ALL_DELIVERED);
    expect(short).toMatchObject(ALL_DELIVERED);
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
    const after = await send({ kind: "plain", model: SCENARIO_MODELS[1] ?? "", isStream: false }, target);
    expect(after).toMatchObject({ completion: "delivered" });
    outcomes.push(after);
  });

  it("loses no stream and no call in a rollback", async () => {
    const { slow, short } = await measured("rollback", () =>
      world.cluster.helm("rollback", "demo", "1", "-n", NAMESPACE, "--wait", "--timeout", "180s"),
    );
    expect(slow).toMatchObject(ALL_DELIVERED);
    expect(short).toMatchObject(ALL_DELIVERED);
  });

  it("has equal books: every delivered answer is charged once, at its price", async () => {
    await expect
      .poll(async () => (await readBooks(database, baseline, outcomes)).findings, { timeout: 90_000, interval: 2_000 })
      .toSatisfy(isClean);
    const { charges, charged } = await readBooks(database, baseline, outcomes);
    console.log(`books: ${outcomes.length} requests, ${charges} charges, ${charged} quota, 0 differences`);
    expect(await release.exec("fairway-gateway", "ledger", "audit")).toContain(": 0 differences");
  });

  it("leaves its generated secrets when it is uninstalled, and no pod", async () => {
    await world.cluster.helm("uninstall", "demo", "-n", NAMESPACE, "--wait", "--timeout", "120s");
    await expect
      .poll(() => release.remains(), { timeout: 90_000, interval: 1_000 })
      .toEqual(["secret/demo-fairway-secrets"]);
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
    await createVolume(cluster);
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

/** Uses a folder of this machine, because the cluster has no storage class. */
async function createVolume(cluster: World["cluster"]): Promise<void> {
  const path = join(cluster.folder ?? "", "volume");
  mkdirSync(path);
  chownSync(path, 65_532, 65_532);
  await cluster.apply(
    JSON.stringify({
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: "local" },
      spec: { capacity: { storage: "5Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path } },
    }),
  );
}
