import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findHelm } from "@fairway/testkit/helm";
import { CHART, requireObject, render, type Rendered } from "./helm.ts";
import { documentedLabels, unknownLabels } from "./metrics.ts";

const helm = findHelm();

interface Pod {
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly securityContext: SecurityContext;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly object[];
  readonly topologySpreadConstraints?: readonly object[];
}
interface Container {
  readonly name: string;
  readonly securityContext: SecurityContext;
  readonly ports?: readonly { readonly hostPort?: number }[];
  readonly [hook: string]: unknown;
}
interface SecurityContext {
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly privileged?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly procMount?: string;
  readonly seccompProfile?: { readonly type: string };
  readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
}

const VOLUMES = [
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
];
const HOOKS = ["startupProbe", "readinessProbe", "livenessProbe", "lifecycle"];

/** What the Pod Security Standard "restricted" forbids for containers; `context` merges that of the pod and its own. */
const FORBIDDEN: Readonly<Record<string, (container: Container, context: SecurityContext) => boolean | undefined>> = {
  "is privileged": (_, { privileged, procMount }) => privileged || procMount !== undefined,
  "may be root": (_, { runAsNonRoot, runAsUser }) => !runAsNonRoot || runAsUser === 0,
  "may gain privileges": (_, { allowPrivilegeEscalation }) => allowPrivilegeEscalation !== false,
  "has no seccomp profile": (_, { seccompProfile }) => seccompProfile?.type !== "RuntimeDefault",
  "has capabilities": (_, { capabilities }) => !capabilities?.drop?.includes("ALL") || capabilities.add !== undefined,
  "takes ports of the host": ({ ports = [] }) => ports.some(({ hostPort }) => hostPort !== undefined),
  "has a probe or hook of another host": (container) =>
    HOOKS.some((hook) => JSON.stringify(container[hook] ?? {}).includes('"host"')),
};

function violations(pod: Pod): string[] {
  const { volumes = [], initContainers = [], containers, securityContext } = pod;
  const kinds = volumes.flatMap((volume) => Object.keys(volume).filter((field) => field !== "name"));
  return [
    ...(pod.hostNetwork || pod.hostPID || pod.hostIPC ? ["shares namespaces with the host"] : []),
    ...kinds.filter((kind) => !VOLUMES.includes(kind)).map((kind) => `has a volume of the kind ${kind}`),
    ...[...initContainers, ...containers].flatMap((container) =>
      Object.entries(FORBIDDEN)
        .filter(([, is]) => is(container, { ...securityContext, ...container.securityContext }))
        .map(([what]) => `${container.name} ${what}`),
    ),
  ];
}

/** Returns the pods, the gateway's first. */
function listPods(objects: readonly Rendered[]): readonly Pod[] {
  const jobs = objects.filter(({ kind }) => kind === "Job");
  const [gateway, ...others] = [requireObject(objects, "Deployment"), ...jobs].map(
    (object) => (object["spec"] as { readonly template: { readonly spec: Pod } }).template.spec,
  );
  if (!gateway) throw new Error("the Deployment has no pod");
  return [gateway, requireObject(objects, "Pod")["spec"] as Pod, ...others];
}

describe.each(readdirSync(join(CHART, "ci")).map((file) => file.replace(/\.yaml$/, "")))(
  "pods of ci/%s.yaml",
  (values) => {
    it("meet the Pod Security Standard restricted, and cannot write to their image", async () => {
      const pods = listPods(await render(helm, values));
      expect(pods.length).toBeGreaterThanOrEqual(2);
      expect(pods.flatMap(violations)).toEqual([]);
      for (const { containers } of pods)
        for (const { securityContext } of containers) expect(securityContext.readOnlyRootFilesystem).toBe(true);
    });
  },
);

describe("the security of pods", () => {
  it("is judged by a check that sees what is wrong", async () => {
    const wrong = JSON.stringify({
      podSecurityContext: { runAsNonRoot: null, runAsUser: 0, seccompProfile: { type: "Unconfined" } },
      securityContext: { privileged: true, allowPrivilegeEscalation: true, capabilities: { add: ["NET_ADMIN"] } },
      extraVolumes: [{ name: "host", hostPath: { path: "/" } }],
    });
    expect(listPods(await render(helm, "mysql", [wrong])).map(violations)[0]).toEqual([
      "has a volume of the kind hostPath",
      "gateway is privileged",
      "gateway may be root",
      "gateway may gain privileges",
      "gateway has no seccomp profile",
      "gateway has capabilities",
    ]);
  });

  it("leaves the user to a cluster that chooses it", async () => {
    const unset = ["runAsUser", "runAsGroup", "fsGroup"].map((field) => `podSecurityContext.${field}=null`);
    for (const { securityContext } of listPods(await render(helm, "mysql", unset)))
      expect(securityContext).toEqual({
        runAsNonRoot: true,
        fsGroupChangePolicy: "OnRootMismatch",
        seccompProfile: { type: "RuntimeDefault" },
      });
  });
});

describe("further containers", () => {
  it("run next to the gateway and before it, with volumes of the operator", async () => {
    const proxy = { name: "proxy", image: "proxy:1" };
    const before = { name: "tunnel", image: "tunnel:1", restartPolicy: "Always" };
    const given = JSON.stringify({ extraContainers: [proxy], initContainers: [before] });
    const [pod] = listPods(await render(helm, "mysql", [given]));
    expect(pod?.initContainers).toEqual([before]);
    expect(pod?.containers).toEqual([expect.objectContaining({ name: "gateway" }), proxy]);
  });
});

it("every pod of the release runs where the values say, and finds what they name", async () => {
  const place = {
    priorityClassName: "high",
    runtimeClassName: "gvisor",
    dnsConfig: { searches: ["internal.example.com"] },
    hostAliases: [{ ip: "10.0.0.5", hostnames: ["db.internal"] }],
    nodeSelector: { disk: "fast" },
    affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
    tolerations: [{ key: "models", operator: "Exists", effect: "NoSchedule" }],
  };
  const pods = listPods(await render(helm, "job", [JSON.stringify(place)]));
  expect(pods).toHaveLength(3);
  for (const pod of pods) expect(pod).toMatchObject(place);
});

describe("spreading", () => {
  const labelSelector = {
    matchLabels: { "app.kubernetes.io/name": "fairway", "app.kubernetes.io/instance": "demo" },
  };
  const spread = async (sets: readonly string[]) =>
    listPods(await render(helm, "mysql", sets))[0]?.topologySpreadConstraints;

  it("is over zones and hosts as well as it goes, each rollout by itself", async () => {
    const soft = {
      maxSkew: 1,
      whenUnsatisfiable: "ScheduleAnyway",
      matchLabelKeys: ["pod-template-hash"],
      labelSelector,
    };
    expect(await spread([])).toEqual([
      { ...soft, topologyKey: "topology.kubernetes.io/zone" },
      { ...soft, topologyKey: "kubernetes.io/hostname" },
    ]);
  });

  it("is the operator's, whose constraints are about the gateway's pods unless they say otherwise", async () => {
    const hard = { maxSkew: 2, topologyKey: "rack", whenUnsatisfiable: "DoNotSchedule" };
    const others = { ...hard, labelSelector: { matchLabels: { app: "other" } } };
    const given = JSON.stringify({ topologySpreadConstraints: [hard, others] });
    expect(await spread([given])).toEqual([{ ...hard, labelSelector }, others]);
  });

  it("is left to the scheduler with an empty list", async () => {
    expect(await spread(['{"topologySpreadConstraints":[]}'])).toBe(undefined);
  });
});

describe("autoscaling", () => {
  it("is off unless asked for, and then decides the number of replicas alone", async () => {
    const without = await render(helm, "mysql");
    expect(without.map(({ kind }) => kind)).not.toContain("HorizontalPodAutoscaler");
    expect(requireObject(without, "Deployment")["spec"]).toHaveProperty("replicas", 2);
    expect(requireObject(await render(helm, "large"), "Deployment")["spec"]).not.toHaveProperty("replicas");
  });

  it("goes by the CPU of the gateway's container and by the operator's metrics", async () => {
    const objects = await render(helm, "large");
    expect(requireObject(objects, "HorizontalPodAutoscaler")["spec"]).toMatchObject({
      scaleTargetRef: {
        apiVersion: "apps/v1",
        kind: "Deployment",
        name: requireObject(objects, "Deployment").metadata.name,
      },
      minReplicas: 3,
      maxReplicas: 30,
      metrics: [
        {
          type: "ContainerResource",
          containerResource: {
            name: "cpu",
            container: "gateway",
            target: { type: "Utilization", averageUtilization: 70 },
          },
        },
        { type: "Pods", pods: { metric: { name: "fairway_inflight_requests" } } },
      ],
    });
    expect(listPods(objects)[0]?.containers.map(({ name }) => name)).toContain("gateway");
  });

  it("takes a pod away only after longer than the drain of the one before", async () => {
    const objects = await render(helm, "large");
    const { behavior } = requireObject(objects, "HorizontalPodAutoscaler")["spec"] as {
      behavior: { scaleDown: { stabilizationWindowSeconds: number; policies: object[] } };
    };
    const { terminationGracePeriodSeconds } = listPods(objects)[0] as unknown as {
      terminationGracePeriodSeconds: number;
    };
    expect(behavior.scaleDown.stabilizationWindowSeconds).toBeGreaterThan(terminationGracePeriodSeconds);
    expect(behavior.scaleDown.policies).toEqual([{ type: "Pods", value: 1, periodSeconds: 180 }]);
  });
});

describe("autoscaling by KEDA", () => {
  it("replaces the HorizontalPodAutoscaler and queries the running requests of this installation", async () => {
    const objects = await render(helm, "keda");
    expect(objects.map(({ kind }) => kind)).not.toContain("HorizontalPodAutoscaler");
    expect(requireObject(objects, "Deployment")["spec"]).not.toHaveProperty("replicas");
    const service = objects.find(({ metadata }) => metadata.labels?.["app.kubernetes.io/component"] === "admin");
    const query = `sum(fairway_inflight_requests{namespace="models",job="${service?.metadata.name}"})`;
    expect(unknownLabels(query, documentedLabels())).toEqual([]);
    expect(requireObject(objects, "ScaledObject")["spec"]).toMatchObject({
      scaleTargetRef: { name: requireObject(objects, "Deployment").metadata.name },
      minReplicaCount: 2,
      maxReplicaCount: 10,
      fallback: { failureThreshold: 3, replicas: 4, behavior: "currentReplicasIfHigher" },
      triggers: [
        {
          type: "prometheus",
          metricType: "AverageValue",
          metadata: {
            serverAddress: "http://prometheus-operated.monitoring:9090",
            query,
            threshold: "100",
            ignoreNullValues: "false",
          },
        },
        { type: "cpu", metricType: "Utilization", metadata: { value: "70", containerName: "gateway" } },
      ],
      advanced: { horizontalPodAutoscalerConfig: { behavior: { scaleDown: { stabilizationWindowSeconds: 600 } } } },
    });
  });
});

describe("the network policy", () => {
  const renderPolicySpec = async (values: string, sets: readonly string[]) =>
    requireObject(await render(helm, values, sets), "NetworkPolicy")["spec"];
  const namespace = (name: string) => ({ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } } });
  const port = (number: number, protocol = "TCP") => ({ port: number, protocol });

  it.each([
    ["mysql", [], true],
    ["mysql", ["networkPolicy.enabled=false"], false],
    ["mysql", ["database.host=", "database.password=", "database.existingSecret=own"], false],
    ["mysql", ["redis.url=", "redis.existingSecret=own"], false],
    ["existing-secrets", [], false],
    ["existing-secrets", ["networkPolicy.enabled=true"], true],
  ])("of %s with %j exists: %s, as the values name the stores or say so", async (values, sets, isOn) => {
    expect((await render(helm, values, sets)).some(({ kind }) => kind === "NetworkPolicy")).toBe(isOn);
  });

  it("opens the public port to all and probes and metrics to the namespace, and closes metadata addresses", async () => {
    expect(await renderPolicySpec("mysql", [])).toEqual({
      podSelector: { matchLabels: { "app.kubernetes.io/name": "fairway", "app.kubernetes.io/instance": "demo" } },
      policyTypes: ["Ingress", "Egress"],
      ingress: [{ ports: [port(3000)] }, { ports: [port(9090)], from: [{ podSelector: {} }] }],
      egress: [
        { ports: [port(53, "UDP"), port(53)] },
        {
          to: [
            { ipBlock: { cidr: "0.0.0.0/0", except: ["169.254.0.0/16", "100.100.100.200/32", "192.0.0.192/32"] } },
            { ipBlock: { cidr: "::/0", except: ["fe80::/10", "fd00:ec2::/32", "fd20:ce::254/128"] } },
          ],
        },
      ],
    });
  });

  it("lets the chosen peers in, and the pod of `helm test`", async () => {
    const objects = await render(helm, "large");
    const test = requireObject(objects, "Pod").metadata.labels;
    expect(requireObject(objects, "NetworkPolicy")["spec"]).toMatchObject({
      ingress: [
        { ports: [port(3000)], from: [{ podSelector: { matchLabels: test } }, namespace("gateways")] },
        { ports: [port(9090)], from: [namespace("monitoring")] },
      ],
    });
  });

  it("lets out to the named places alone, and to the names of them", async () => {
    expect(await renderPolicySpec("large", [])).toMatchObject({
      policyTypes: ["Ingress", "Egress"],
      egress: [
        { ports: [port(53, "UDP"), port(53)] },
        { ports: [port(443)], to: [{ ipBlock: { cidr: "0.0.0.0/0", except: ["10.0.0.0/8", "169.254.0.0/16"] } }] },
        { ports: [port(5432)], to: [{ podSelector: { matchLabels: { app: "postgres" } } }] },
        { ports: [port(6379)], to: [{ podSelector: { matchLabels: { app: "redis" } } }] },
      ],
    });
  });

  it("names the ports that the gateway listens on", async () => {
    const spec = await renderPolicySpec("mysql", ["server.port=8080", "server.adminPort=8081"]);
    expect(spec).toMatchObject({ ingress: [{ ports: [port(8080)] }, { ports: [port(8081)] }] });
  });
});

describe("the migration Job", () => {
  const readEnv = (object: Rendered) => {
    const { template } = object["spec"] as { template: { spec: { containers: [{ env: { name: string }[] }] } } };
    return template.spec.containers[0].env;
  };
  const password = { name: "fairway-secrets", key: "root-password" };

  it("has the account that may change tables and the password of root, and the pods wait without either", async () => {
    const sets = ["secrets.create=false", "secrets.existingSecret=fairway-secrets"];
    const objects = await render(helm, "job", sets);
    const job = readEnv(requireObject(objects, "Job"));
    const pods = readEnv(requireObject(objects, "Deployment"));
    const owner = { name: "fairway-database-owner", key: "url" };
    expect(job).toContainEqual({ name: "FAIRWAY_DATABASE_URL", valueFrom: { secretKeyRef: owner } });
    expect(job).toContainEqual({ name: "FAIRWAY_ROOT_PASSWORD", valueFrom: { secretKeyRef: password } });
    expect(pods).toContainEqual({ name: "FAIRWAY_MIGRATE", value: "wait" });
    expect(JSON.stringify(pods)).not.toMatch(/database-owner|root-password/);
  });

  it("uses the account of the pods unless another is named", async () => {
    const sets = ["migrations.job.existingSecret=", "database.existingSecretKey=dsn"];
    const own = { name: "fairway-database", key: "dsn" };
    expect(readEnv(requireObject(await render(helm, "job", sets), "Job"))).toContainEqual({
      name: "FAIRWAY_DATABASE_URL",
      valueFrom: { secretKeyRef: own },
    });
  });

  it("has a new name for each image, and one that fits the longest release", async () => {
    const name = async (...sets: string[]) => requireObject(await render(helm, "job", sets), "Job").metadata.name;
    expect(await name()).toMatch(/^demo-fairway-migrate-[0-9a-f]{8}$/);
    expect(await name("image.tag=next")).not.toBe(await name());
    expect(await name("replicaCount=5")).toBe(await name());
    // The pod of a Job is immutable: an upgrade with the same name would be refused.
    for (const set of ["nodeSelector.disk=fast", "server.logLevel=warn", "podLabels.team=a", "extraEnv[0].name=A"])
      expect(await name(set), set).not.toBe(await name());
    expect((await name(`fullnameOverride=${"a".repeat(60)}`)).length).toBeLessThanOrEqual(63);
  });

  it("is absent while the pods change the schema themselves", async () => {
    const objects = await render(helm, "mysql");
    expect(objects.map(({ kind }) => kind)).not.toContain("Job");
    expect(readEnv(requireObject(objects, "Deployment")).map(({ name }) => name)).not.toContain("FAIRWAY_MIGRATE");
  });
});

describe("a cluster with two address families", () => {
  it("has both Services in them", async () => {
    const services = (await render(helm, "job")).filter(({ kind }) => kind === "Service");
    expect(services).toHaveLength(2);
    for (const { spec } of services)
      expect(spec).toMatchObject({ ipFamilyPolicy: "PreferDualStack", ipFamilies: ["IPv6", "IPv4"] });
  });
});

describe("objects of the operator", () => {
  it("are filled in, whether they are maps or texts", async () => {
    const notice = { kind: "ConfigMap", metadata: { name: "demo-fairway-notice", namespace: "models" } };
    expect(requireObject(await render(helm, "job"), "ConfigMap")).toMatchObject({
      ...notice,
      data: { release: "demo" },
    });
    const text = ["apiVersion: v1", "kind: ConfigMap", "metadata: { name: {{ .Release.Name }}-text }"].join("\n");
    const objects = await render(helm, "mysql", [JSON.stringify({ extraObjects: [text] })]);
    expect(requireObject(objects, "ConfigMap").metadata.name).toBe("demo-text");
  });
});
