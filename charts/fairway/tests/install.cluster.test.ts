import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCluster, type Cluster } from "@fairway/testkit/cluster";
import { CHART, parseObjects } from "./helm.ts";

const VALUE_SETS = readdirSync(join(CHART, "ci")).map((file) => file.replace(/\.yaml$/, ""));
/** Kinds of the Gateway API, the Prometheus operator and KEDA, which a plain API server does not know. */
const FOREIGN = /^(?:gateway\.networking\.k8s\.io|monitoring\.coreos\.com|keda\.sh)\//;

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ fakeNodes: 2 });
});
afterAll(() => cluster?.stop());

const buildValuesArgs = (set: string) => ["-f", join(CHART, "ci", `${set}.yaml`)];

async function createNamespace(name: string): Promise<void> {
  await cluster.kubectl("create", "namespace", name);
  await cluster.kubectl("label", "namespace", name, "pod-security.kubernetes.io/enforce=restricted");
}

describe.each(VALUE_SETS)("with the values of ci/%s.yaml", (set) => {
  it("every object is accepted by the API server, and the pod by the standard `restricted`", async () => {
    const namespace = `dry-${set}`;
    await createNamespace(namespace);
    const generated = ["--set", "secrets.generateWithoutCluster=true"];
    const values = [...buildValuesArgs(set), ...generated];
    const rendered = await cluster.helm("template", "demo", CHART, "--namespace", namespace, ...values);
    const objects = parseObjects(rendered).filter((object) => !FOREIGN.test(String(object["apiVersion"])));
    const list = { apiVersion: "v1", kind: "List", items: objects };
    const accepted = await cluster.apply(JSON.stringify(list), "--server-side", "--dry-run=server", "-o", "name");
    expect(accepted.trim().split("\n")).toHaveLength(objects.length);

    const deployment = objects.find(({ kind }) => kind === "Deployment") as unknown as {
      spec: { template: { metadata: object; spec: object } };
    };
    const { metadata, spec } = deployment.spec.template;
    const account = { serviceAccountName: "default" };
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name: "probe", namespace } };
    await cluster.apply(JSON.stringify({ ...pod, spec: { ...spec, ...account } }), "--dry-run=server");
  });
});

describe("an installed release", () => {
  const release = ["--namespace", "models", ...buildValuesArgs("ingress")];
  const replicas = () =>
    cluster.kubectl("get", "deployment", "demo-fairway", "-n", "models", "-o", "jsonpath={.spec.replicas}");
  const readSecrets = async () => {
    const { data } = JSON.parse(
      await cluster.kubectl("get", "secret", "demo-fairway-secrets", "-n", "models", "-o", "json"),
    ) as { readonly data: Record<string, string> };
    return data;
  };
  const install = () => cluster.helm("install", "demo", CHART, ...release, "--wait", "--timeout", "90s");
  const upgrade = (...args: string[]) => cluster.helm("upgrade", "demo", CHART, ...release, ...args);

  beforeAll(async () => {
    await createNamespace("models");
    await install();
  });

  it("takes the password of root out of pods that have been available, and does not put it back", async () => {
    const environment = () =>
      cluster.kubectl("get", "deployment", "demo-fairway", "-n", "models", "-o", "jsonpath={..env[*].name}");
    expect(await environment()).toContain("FAIRWAY_ROOT_PASSWORD");
    for (const level of ["warn", "info"]) {
      await upgrade("--set", `server.logLevel=${level}`, "--wait");
      expect(await environment()).not.toContain("FAIRWAY_ROOT_PASSWORD");
    }
  });

  it("keeps its generated secrets across an upgrade", async () => {
    const before = await readSecrets();
    await upgrade();
    expect(Object.keys(before).toSorted()).toEqual(["encryption-key", "root-password", "session-secret"]);
    expect(await readSecrets()).toEqual(before);
  });

  it("keeps the number of pods that `kubectl scale` set across an upgrade", async () => {
    await cluster.kubectl("scale", "deployment/demo-fairway", "-n", "models", "--replicas=4");
    await upgrade("--set", "server.logLevel=debug");
    expect(await replicas()).toBe("4");
  });

  it("refuses another replicaCount while `kubectl scale` owns the number, and takes it with --force-conflicts", async () => {
    await expect(upgrade("--set", "replicaCount=3")).rejects.toThrow(/conflict with "kubectl".*\.spec\.replicas/s);
    expect(await replicas()).toBe("4");
    await upgrade("--set", "replicaCount=3", "--force-conflicts");
    expect(await replicas()).toBe("3");
  });

  it("starts an autoscaler with the pods that run, and takes the number over again", async () => {
    await upgrade("--set", "autoscaling.enabled=true,autoscaling.minReplicas=3");
    expect(await replicas()).toBe("3");
    await upgrade("--set", "replicaCount=3");
    expect(await replicas()).toBe("3");
  });

  it("goes back to its first revision, past a number of `kubectl scale` only with --force-conflicts", async () => {
    const level = () => cluster.kubectl("get", "deployment", "demo-fairway", "-n", "models", "-o", "jsonpath={..env}");
    const back = (...args: string[]) => cluster.helm("rollback", "demo", "1", "-n", "models", ...args);
    await upgrade("--set", "server.logLevel=error", "--set", "replicaCount=3");
    await cluster.kubectl("scale", "deployment/demo-fairway", "-n", "models", "--replicas=5");
    await cluster.kubectl("rollout", "status", "deployment/demo-fairway", "-n", "models", "--timeout=90s");
    await expect(back()).rejects.toThrow(/conflict with "kubectl".*\.spec\.replicas/s);
    await back("--force-conflicts", "--wait", "--timeout", "90s");
    expect(await replicas()).toBe("2");
    expect(await level()).not.toContain('"error"');
  });

  it("takes an upgrade that changes the pod of the migration Job", async () => {
    const jobs = () => cluster.kubectl("get", "jobs", "-n", "jobs", "-o", "name");
    await createNamespace("jobs");
    const settings = ["--namespace", "jobs", ...buildValuesArgs("job")];
    await cluster.helm("install", "demo", CHART, ...settings);
    const before = await jobs();
    await cluster.helm("upgrade", "demo", CHART, ...settings, "--set", "nodeSelector.disk=fast");
    expect(await jobs()).not.toBe(before);
    expect((await jobs()).trim().split("\n")).toHaveLength(1);
  });

  it("leaves its secrets behind, and nothing else, when it is uninstalled", async () => {
    await cluster.helm("uninstall", "demo", "--namespace", "models", "--wait");
    const own = ["-n", "models", "-l", "app.kubernetes.io/instance=demo", "-o", "name"];
    const kinds = "all,secret,configmap,serviceaccount,role,rolebinding,ingress,networkpolicy,poddisruptionbudget,pvc";
    expect((await cluster.kubectl("get", kinds, ...own)).trim()).toBe("secret/demo-fairway-secrets");
  });

  it("is installed again with the secrets of the release that was uninstalled", async () => {
    const before = await readSecrets();
    await install();
    expect(await readSecrets()).toEqual(before);
  });
});
