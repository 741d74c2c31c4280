// The commands of the pages for operators, copied from the pages and run in their order on a real node.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { signIn } from "../../src/api.ts";
import { PageCommands, readPageFile } from "../../src/page-commands.ts";
import { freePort } from "../../src/services.ts";
import { runSql } from "../../src/sql.ts";
import { createVolume } from "../image.ts";
import { PAGES } from "./pages.ts";
import { createReader, type Reader } from "./reader.ts";
import { CHART, createWorld, type World } from "./world.ts";

const PASSWORD = "password";
const POLL = { timeout: 120_000, interval: 500 };
const SECRETS = [
  "kubectl --namespace models create secret generic fairway-secrets",
  "kubectl --namespace models create secret generic fairway-database",
  "kubectl --namespace models create secret generic fairway-redis",
];
const SMALL_PODS = { resources: { requests: { cpu: "50m", memory: "256Mi" } }, drain: { preStopSeconds: 2 } };

let world: World;
let reader: Reader;
beforeAll(async () => {
  world = await createWorld({ nodes: 1, redisPassword: PASSWORD });
  await world.cluster.tag("docker.io/fairway/gateway:0.2.0", "registry.example/fairway/gateway:0.2.0");
  for (const name of ["fairway", "fairway_ai"])
    await runSql(world.services.postgres?.url ?? "", `CREATE DATABASE ${name}`);
});
afterAll(() => world?.stop());
beforeEach(() => {
  reader = createReader(world.cluster);
});
afterEach(() => reader?.leave());

/** Lets pods of a namespace reach the servers of this machine as `postgres` and `redis`. */
async function createNamespace(namespace: string): Promise<void> {
  const { cluster, services, seen } = world;
  await cluster.kubectl("create", "namespace", namespace);
  const items = [
    ...describeServer("postgres", 5_432, seen(services.postgres?.url)),
    ...describeServer("redis", 6_379, seen(services.redis?.url)),
  ];
  await cluster.apply(JSON.stringify({ apiVersion: "v1", kind: "List", items }), "--namespace", namespace);
}

function describeServer(name: string, port: number, url: string): object[] {
  const { hostname, port: target } = new URL(url);
  const labels = { "kubernetes.io/service-name": name };
  return [
    { apiVersion: "v1", kind: "Service", metadata: { name }, spec: { ports: [{ port }] } },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name, labels },
      addressType: "IPv4",
      ports: [{ port: Number(target) }],
      endpoints: [{ addresses: [hostname] }],
    },
  ];
}

async function removeNamespace(namespace: string): Promise<void> {
  await world.cluster.kubectl("delete", "namespace", namespace, "--timeout=120s");
}

/** Runs a command that forwards port 3000, at another port of this machine, and gives the address to `work`. */
async function forwarding(command: string, work: (url: string) => Promise<void>): Promise<void> {
  const port = await freePort();
  const isOurs = command.startsWith("fairway");
  const running = reader.start(isOurs ? `${command} ${port}` : command.replace("3000:", `${port}:`));
  try {
    const url = `http://127.0.0.1:${port}`;
    await expect.poll(() => readStatus(url), POLL).toBe(200);
    await work(url);
  } catch (error) {
    throw new Error(`${command} said: ${running.said()}`, { cause: error });
  } finally {
    await running.stop();
  }
}

const readStatus = (url: string) =>
  fetch(`${url}/api/status`).then(
    ({ status }) => status,
    () => 0,
  );

describe("docs/start/kubernetes.md", () => {
  const name = "docs/start/kubernetes.md";
  const page = new PageCommands(name);
  const run = (start: string) => reader.run(page.take(start));
  const portForward = () => page.take("kubectl --namespace models port-forward");
  const readPassword = async () => (await run("kubectl --namespace models get secret")).trim();

  it("Ten minutes: one pod with SQLite, from the install to the last volume", async () => {
    await createVolume(world.cluster, "ten-minutes");
    const said = await run("helm install fairway");
    const shown = /^ +(kubectl .*root-password.*)$/m.exec(said)?.[1] ?? "";
    const password = (await reader.run(shown)).trim();
    expect(await run("helm test fairway")).toContain("Succeeded");
    await forwarding(portForward(), async (url) => {
      await signIn(url, "root", password);
    });
    await run("helm uninstall");
    const kinds = "all,secret,persistentvolumeclaim";
    const own = ["-n", "models", "-l", "app.kubernetes.io/instance=fairway", "-o", "name"];
    const left = async () => (await world.cluster.kubectl("get", kinds, ...own)).trim().split("\n").filter(Boolean);
    await expect.poll(left, POLL).toEqual(["secret/fairway-secrets", "persistentvolumeclaim/fairway-data"]);
    await run("kubectl --namespace models delete secret");
    expect(await left()).toEqual([]);
    await removeNamespace("models");
  });

  it("Secrets, install, upgrade and rollback with PostgreSQL and Redis", async () => {
    await createNamespace("models");
    expect(page.take("kubectl create namespace")).toBe("kubectl create namespace models");
    for (const secret of SECRETS) await run(secret);
    reader.write("values.yaml", readPageFile(name, "# values.yaml\nimage:"));
    await run("helm upgrade --install fairway charts/fairway --namespace models -f");
    expect(await run("kubectl --namespace models rollout status")).toContain("successfully rolled out");
    const password = await readPassword();
    await forwarding(portForward(), async (url) => {
      await signIn(url, "root", password);
    });
    await run("helm upgrade fairway");
    await reader.run(`${page.take("helm upgrade fairway")} --set server.logLevel=warn --wait`);
    await reader.run(`${page.take("helm upgrade fairway")} --set server.logLevel=debug --wait`);
    expect(await run("helm history")).toMatch(/^4\s/m);
    expect(await run("helm rollback")).toContain("Rollback was a success");
    const level = ["get", "deployment/fairway", "-n", "models", "-o", "jsonpath={..env}"];
    expect(await world.cluster.kubectl(...level)).toContain('"FAIRWAY_LOG_LEVEL","value":"warn"');
    await forwarding(portForward(), async (url) => {
      await signIn(url, "root", password);
    });
    await run("helm uninstall");
    await removeNamespace("models");
  });

  it("Small: one pod from a registry, without Redis", async () => {
    await world.cluster.kubectl("create", "namespace", "models");
    await createVolume(world.cluster, "small");
    await run("helm upgrade --install fairway charts/fairway --namespace models --set");
    await run("kubectl --namespace models rollout status");
    await run("helm uninstall");
    await removeNamespace("models");
  });

  it("no other command is left", () => {
    const others = Object.entries(PAGES[name] ?? {}).flatMap(([start, reason]) => (reason ? [page.take(start)] : []));
    expect(others.length).toBeGreaterThan(0);
    expect(page.listOthers()).toEqual([]);
  });
});

describe("docs/operate/gitops.md", () => {
  const name = "docs/operate/gitops.md";
  const page = new PageCommands(name);
  const run = (start: string) => reader.run(page.take(start));
  const get = (object: string, path: string) =>
    world.cluster.kubectl("get", object, "-n", "ai", "-o", `jsonpath={${path}}`);
  const reasonOf = (channel: string, type: string) =>
    get(`channel/${channel}`, `.status.conditions[?(@.type=="${type}")].reason`);
  const untilReason = (channel: string, type: string, reason: string) =>
    expect.poll(() => reasonOf(channel, type), POLL).toBe(reason);
  const describeChannel = (channel: string) => `apiVersion: fairway.dev/v1alpha1
kind: Channel
metadata: { name: ${channel}, namespace: ai }
spec:
  type: openai
  models: [${channel}]
  credentialsFrom: { secretKeyRef: { name: openai, key: api-key } }
`;

  beforeAll(async () => {
    await createNamespace("ai");
    const values = {
      ...SMALL_PODS,
      replicaCount: 2,
      database: { type: "postgres", host: "postgres", name: "fairway_ai", username: "fairway", password: PASSWORD },
      redis: { url: `redis://:${PASSWORD}@redis:6379/0`, keyPrefix: "ai:" },
      networkPolicy: { enabled: false },
    };
    const flags = ["--namespace", "ai", "--set-json", JSON.stringify(values), "--wait"];
    await world.cluster.helm("install", "fairway", CHART, ...flags);
  });
  afterAll(() => removeNamespace("ai"));

  it("begins with the definitions, the upgrade, labelled Secrets and resources", async () => {
    await run("helm install fairway-crds");
    await run("helm upgrade fairway");
    await world.cluster.kubectl("rollout", "status", "deployment/fairway", "-n", "ai", "--timeout=120s");
    for (const secret of ["openai", "anthropic"])
      await world.cluster.kubectl("create", "secret", "generic", secret, "-n", "ai", "--from-literal=api-key=sk-one");
    await run("kubectl label");
    await run("kubectl apply -k");
    for (const channel of ["openai-main", "anthropic-main"]) await untilReason(channel, "Ready", "Ready");
    const all = await run("kubectl get fairway");
    for (const object of ["openai-main", "anthropic-main", "openai-daily", "site"]) expect(all).toContain(object);
  });

  it("From the terminal: shows, reconciles, pauses and steps down", async () => {
    reader.write("main.yaml", describeChannel("main"));
    await reader.run("kubectl apply -f main.yaml");
    await untilReason("main", "Ready", "Ready");
    expect(await reader.run("fairway login --kube -n ai")).toContain("as root");
    expect(await run("fairway kube status")).toContain("2 of 2 pods ready");
    await run("fairway kube doctor");
    const leader = (await reader.run(`${page.take("fairway kube leader -n ai")} -o json`)).trim();
    expect(leader).toContain("fairway-");
    expect(await run("fairway kube gitops -n ai")).toContain("Channel/openai-main");
    await run("fairway kube gitops reconcile");
    await run("fairway kube gitops pause");
    await untilReason("main", "Programmed", "Paused");
    await reader.run("fairway kube gitops resume -n ai");
    await untilReason("main", "Programmed", "Applied");
    expect(await run("fairway kube leader -n ai --step-down")).toContain("stepped down");
    const logs = reader.start(page.take("fairway kube logs"));
    await expect.poll(logs.said, POLL).toMatch(/listening/);
    await logs.stop();
    await forwarding(page.take("fairway kube port-forward"), async (url) => {
      expect(await readStatus(url)).toBe(200);
    });
    await run("fairway kube crds install");
  });

  it("Too many deletions: some are confirmed, the others let go and applied again", async () => {
    const [retained, confirmed] = [
      ["main", "spare", "third"],
      ["old-1", "old-2", "old-3"],
    ];
    for (const channel of retained) reader.write(`channels/${channel}.yaml`, describeChannel(channel));
    for (const channel of confirmed) reader.write(`old/${channel}.yaml`, describeChannel(channel));
    await run("kubectl apply -n ai -f");
    await reader.run("kubectl apply -n ai -f old/");
    const all = [...retained, ...confirmed];
    for (const channel of all) await untilReason(channel, "Ready", "Ready");
    const ids = () => Promise.all(retained.map((channel) => get(`channel/${channel}`, ".status.resourceId")));
    const before = await ids();
    await reader.run("kubectl delete -n ai -f channels/ -f old/ --wait=false");
    for (const channel of all) await untilReason(channel, "Programmed", "DeletionHeld");
    await run("kubectl annotate -n ai channel/old-1");
    for (const channel of confirmed)
      await world.cluster.kubectl("wait", "-n", "ai", "--for=delete", `channel/${channel}`, "--timeout=60s");
    await run("kubectl annotate -n ai channel/main");
    await run("kubectl wait");
    await run("kubectl apply -n ai -f");
    for (const channel of retained) await untilReason(channel, "Ready", "Ready");
    expect(await ids()).toEqual(before);
  });

  it("Uninstall: with what the resources describe, and without a gateway", async () => {
    const resources = async () => (await reader.run("kubectl get fairway -n ai -o name")).trim();
    await run("kubectl annotate -n ai channels.fairway.dev");
    await run("kubectl delete");
    expect(await resources()).toContain("No resources found");
    await run("kubectl apply -k");
    await untilReason("openai-main", "Ready", "Ready");
    await reader.run(`${page.take("fairway kube uninstall")} --yes`);
    expect(await get("channel/openai-main", ".metadata.finalizers")).toBe("");
    expect((await world.cluster.kubectl("get", "deployments", "-n", "ai", "-o", "name")).trim()).toBe("");
    const held = '{"metadata":{"finalizers":["fairway.dev/cleanup"]}}';
    await world.cluster.kubectl("patch", "-n", "ai", "channel/openai-main", "--type=merge", "-p", held);
    await world.cluster.kubectl("delete", "-n", "ai", "channel/openai-main", "--wait=false");
    await sleep(500);
    await run("kubectl patch");
    await expect.poll(resources, POLL).not.toContain("openai-main");
  });

  it("no other command is left", () => expect(page.listOthers()).toEqual([]));
});
