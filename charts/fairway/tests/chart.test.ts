import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { describe, expect, it } from "vitest";
import { findHelm } from "@fairway/testkit/helm";
import { CHART, parseObjects, run, template, type Rendered } from "./helm.ts";

const helm = findHelm();
const VALUE_SETS = readdirSync(join(CHART, "ci")).map((file) => file.replace(/\.yaml$/, ""));

interface Container {
  readonly env: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } };
  }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext: Record<string, unknown>;
  readonly [probe: string]: unknown;
}
interface PodSpec {
  readonly containers: readonly [Container];
  readonly securityContext: Record<string, unknown>;
  readonly terminationGracePeriodSeconds: number;
  readonly enableServiceLinks: boolean;
  readonly automountServiceAccountToken: boolean;
  readonly volumes: readonly object[];
}

function requireDeployment(objects: readonly Rendered[]): {
  readonly spec: {
    readonly replicas?: number;
    readonly strategy: { readonly type: string };
    readonly template: {
      readonly metadata: {
        readonly labels: Record<string, string>;
        readonly annotations?: Record<string, string>;
      };
      readonly spec: PodSpec;
    };
  };
} {
  const found = objects.find(({ kind }) => kind === "Deployment");
  if (!found) throw new Error("no Deployment was rendered");
  return found as never;
}

const LOCAL_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes";

it.each([
  ["mysql", "tmp,data"],
  ["sqlite", undefined],
])("local volumes of %s are safe to evict: %s", async (values, expected) => {
  const { template: pod } = requireDeployment(parseObjects((await template(helm, values)).output)).spec;
  expect(pod.metadata.annotations?.[LOCAL_VOLUMES]).toBe(expected);
});

it("both listeners take IPv6 and IPv4, or the address of server.host", async () => {
  const renderHosts = async (settings: readonly string[]) => {
    const { spec } = requireDeployment(parseObjects((await template(helm, "mysql", settings)).output)).spec.template;
    const [{ env }] = spec.containers;
    return env.filter(({ name }) => /^FAIRWAY_(ADMIN_)?HOST$/.test(name)).map(({ value }) => value);
  };
  expect(await renderHosts([])).toEqual(["::", "::"]);
  expect(await renderHosts(["server.host=0.0.0.0"])).toEqual(["0.0.0.0", "0.0.0.0"]);
});

describe.each(VALUE_SETS)("with the values of ci/%s.yaml", (values) => {
  it.each(["1.30.0", "1.33.0", "1.36.0"])("renders for Kubernetes %s", async (version) => {
    const { code, output } = await template(helm, values, [], version);
    expect({ code, output }).toMatchObject({ code: 0 });
    const objects = parseObjects(output);
    expect(objects.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(["Deployment", "Service", "ServiceAccount"]),
    );
    expect(objects.every(({ metadata }) => metadata.namespace === "models")).toBe(true);
    expect(new Set(objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).size).toBe(objects.length);
  });

  it("lints", async () => {
    const { code, output } = await run(helm, ["lint", CHART, "--strict", "-f", join(CHART, "ci", `${values}.yaml`)]);
    expect({ code, output }).toMatchObject({ code: 0 });
  });

  it("runs restricted, drains, and probes the admin listener", async () => {
    const deployment = requireDeployment(parseObjects((await template(helm, values)).output));
    const pod = deployment.spec.template.spec;
    const [gateway] = pod.containers;
    expect(pod).toMatchObject({
      enableServiceLinks: false,
      automountServiceAccountToken: values === "gitops",
      terminationGracePeriodSeconds: 280,
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
    });
    expect(gateway.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    for (const [probe, path] of [
      ["startupProbe", "/startupz"],
      ["readinessProbe", "/readyz"],
      ["livenessProbe", "/livez"],
    ] as const) {
      expect(gateway[probe]).toMatchObject({ httpGet: { path, port: "admin" } });
      expect(JSON.stringify(gateway[probe])).not.toContain('"host"');
    }
    expect(gateway["lifecycle"]).toEqual({ preStop: { sleep: { seconds: 10 } } });
    expect(new Set(gateway.env.map(({ name }) => name)).size).toBe(gateway.env.length);
  });

  it("selects its own pods and names ports and Secret keys that exist", async () => {
    const objects = parseObjects((await template(helm, values)).output);
    const deployment = requireDeployment(objects);
    const labels = deployment.spec.template.metadata.labels;
    const [gateway] = deployment.spec.template.spec.containers;
    for (const service of objects.filter(({ kind }) => kind === "Service")) {
      const spec = service["spec"] as { selector: Record<string, string>; ports: { targetPort: string }[] };
      expect(labels).toMatchObject(spec.selector);
      expect(gateway.ports.map(({ name }) => name)).toContain(spec.ports[0]?.targetPort);
    }
    const secrets = new Map(
      objects
        .filter(({ kind }) => kind === "Secret")
        .map((secret) => [secret.metadata.name, secret["data"] as Record<string, string>]),
    );
    const external = /^fairway-(database|redis|secrets)$/;
    for (const { name, valueFrom } of gateway.env) {
      const ref = valueFrom?.secretKeyRef;
      if (!ref || external.test(ref.name)) continue;
      expect({ name, keys: Object.keys(secrets.get(ref.name) ?? {}) }).toEqual({
        name,
        keys: expect.arrayContaining([ref.key]) as string[],
      });
    }
  });
});

describe("Deployment", () => {
  it("does not restart pods for a new chart version", async () => {
    const { spec } = requireDeployment(parseObjects((await template(helm, "mysql")).output));
    expect(Object.keys(spec.template.metadata.labels).sort()).toEqual([
      "app.kubernetes.io/component",
      "app.kubernetes.io/instance",
      "app.kubernetes.io/name",
    ]);
  });

  it("recreates its one pod with SQLite and rolls without a gap otherwise", async () => {
    expect(requireDeployment(parseObjects((await template(helm, "sqlite")).output)).spec).toMatchObject({
      replicas: 1,
      strategy: { type: "Recreate" },
    });
    expect(requireDeployment(parseObjects((await template(helm, "mysql")).output)).spec).toMatchObject({
      replicas: 2,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
  });

  it("prefers a digest over a tag", async () => {
    const digest = `sha256:${"a".repeat(64)}`;
    const { output } = await template(helm, "mysql", ["image.registry=registry.example", `image.digest=${digest}`]);
    expect(output).toContain(`image: registry.example/fairway/gateway@${digest}`);
  });

  it("names no number of replicas where an autoscaler decides", async () => {
    expect(
      requireDeployment(parseObjects((await template(helm, "mysql", ["replicaCount=null"])).output)).spec.replicas,
    ).toBe(undefined);
  });

  it("mounts volumes of the operator next to its own", async () => {
    const sets = ["extraVolumes[0].name=ca", "extraVolumes[0].configMap.name=authority"];
    const mounts = ["extraVolumeMounts[0].name=ca", "extraVolumeMounts[0].mountPath=/etc/fairway"];
    const { spec } = requireDeployment(parseObjects((await template(helm, "mysql", [...sets, ...mounts])).output)).spec
      .template;
    expect(spec.volumes).toContainEqual({ name: "ca", configMap: { name: "authority" } });
    expect(spec.containers[0]["volumeMounts"]).toContainEqual({ name: "ca", mountPath: "/etc/fairway" });
  });

  const annotations = async (sets: readonly string[], values = "mysql") =>
    requireDeployment(parseObjects((await template(helm, values, sets)).output)).spec.template.metadata.annotations;

  it("replaces pods when a value changes that they read from the chart's Secrets", async () => {
    const before = await annotations([]);
    expect(before).toMatchObject({ "fairway.dev/secret-values": expect.stringMatching(/^[0-9a-f]{16}$/) as string });
    for (const set of [
      "database.password=other",
      "redis.url=redis://other:6379",
      "secrets.encryptionKey=another-secret-01",
    ])
      expect(await annotations([set]), set).not.toEqual(before);
  });

  it("leaves pods alone when nothing that they read changes", async () => {
    const before = await annotations([]);
    for (const set of ["secrets.initialRootPassword=something-else", "service.port=8080"])
      expect(await annotations([set]), set).toEqual(before);
    expect(await annotations([], "sqlite")).toBe(undefined);
    expect(await annotations([], "existing-secrets")).toEqual({ [LOCAL_VOLUMES]: "tmp,data" });
  });
});

describe("texts that YAML could read as another type", () => {
  const texts = (objects: readonly Rendered[]) => {
    const { metadata, spec } = requireDeployment(objects).spec.template;
    const values = spec.containers[0].env.flatMap(({ value }) => (value === undefined ? [] : [value]));
    const names = objects.flatMap((object) => [
      object.metadata.namespace,
      ...Object.values(object.metadata.labels ?? {}),
    ]);
    return [...values, ...names, ...Object.values(metadata.labels)];
  };

  it("remain texts: a log level `off`, a namespace and an installation of digits", async () => {
    const values = ["server.logLevel=off", "fullnameOverride=gateway", "secrets.generateWithoutCluster=true"];
    const sets = values.flatMap((value) => ["--set", value]);
    const args = [
      "template",
      "2026",
      CHART,
      "--namespace",
      "10023",
      "-f",
      join(CHART, "ci", "monitored.yaml"),
      ...sets,
    ];
    const { code, output } = await run(helm, args);
    expect({ code, output }).toMatchObject({ code: 0 });
    const found = texts(parseObjects(output));
    expect(found).toEqual(expect.arrayContaining(["off", "2026", "10023"]));
    expect(found.filter((value) => typeof value !== "string")).toEqual([]);
  });

  it("become valid labels, a version with a plus sign included", async () => {
    const folder = mkdtempSync(join(tmpdir(), "fairway-chart-"));
    try {
      await run(helm, ["package", CHART, "--version", "1.2.3+build.5", "--app-version", "1.2.3+build.5", "-d", folder]);
      const chart = join(folder, "fairway-1.2.3+build.5.tgz");
      const { output } = await run(helm, ["template", "demo", chart, "-f", join(CHART, "ci", "mysql.yaml")]);
      const labels = parseObjects(output).flatMap(({ metadata }) => Object.values(metadata.labels ?? {}));
      expect(labels).toContain("fairway-1.2.3_build.5");
      expect(labels.filter((label) => !/^[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/.test(label))).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

function readSecretData(secret: Rendered | undefined): Record<string, string> {
  return (secret?.["data"] ?? {}) as Record<string, string>;
}

describe("secrets", () => {
  it.each(VALUE_SETS)("rendered without a cluster are the same twice, or refused: ci/%s.yaml", async (values) => {
    const render = () => run(helm, ["template", "x", CHART, "-f", join(CHART, "ci", `${values}.yaml`)]);
    const [first, second] = [await render(), await render()];
    expect(second).toEqual(first);
    if (first.code === 0) return;
    expect(first.output).toContain("no cluster is asked for the one of an earlier install");
    expect(first.output).toContain("secrets.existingSecret");
    const forced = await template(helm, values);
    expect(forced.code).toBe(0);
  });

  it("are in Secrets and in no other object", async () => {
    const objects = parseObjects((await template(helm, "mysql")).output);
    const others = JSON.stringify(objects.filter(({ kind }) => kind !== "Secret"));
    const held = JSON.stringify(
      objects
        .filter(({ kind }) => kind === "Secret")
        .map((secret) =>
          Object.values(secret["data"] as Record<string, string>).map((value) =>
            Buffer.from(value, "base64").toString(),
          ),
        ),
    );
    for (const canary of [
      "canary-db-password",
      "canary-redis-password",
      "canary-session-secret-0123",
      "canary-encryption-key-0123",
      "canary-root-password",
    ]) {
      expect(others).not.toContain(canary);
      expect(held).toContain(canary);
    }
  });

  it("give the address of the log to the pods and to the job that changes the schema", async () => {
    const settings = ["logDatabase.existingSecret=logs", "migrations.mode=job"];
    const objects = parseObjects((await template(helm, "mysql", settings)).output);
    const pods = objects.filter(({ kind }) => kind === "Deployment" || kind === "Job");
    expect(pods).toHaveLength(2);
    const address = {
      name: "FAIRWAY_LOG_DATABASE_URL",
      valueFrom: { secretKeyRef: { name: "logs", key: "url" } },
    };
    for (const pod of pods) expect(JSON.stringify(pod)).toContain(JSON.stringify(address));
  });

  it.each(["p@ss:w/rd", "two words + one"])("escape the password %s inside the database URL", async (password) => {
    const objects = parseObjects((await template(helm, "mysql", [`database.password=${password}`])).output);
    const connections = objects.find(
      ({ kind, metadata }) => kind === "Secret" && metadata.name.endsWith("-connections"),
    );
    const url = Buffer.from(readSecretData(connections)["database-url"] ?? "", "base64").toString();
    expect(decodeURIComponent(new URL(url).password)).toBe(password);
  });
});

describe("documents", () => {
  it("are a ConfigMap of the chart and those of the operator, each in a folder of its own", async () => {
    const document = { kind: "OptionSet", metadata: { name: "site" }, spec: { values: { SystemName: "Ours" } } };
    const sets = [JSON.stringify({ documents: { items: [document], configMaps: ["team-a"] } })];
    const objects = parseObjects((await template(helm, "mysql", sets)).output);
    const map = objects.find(
      ({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "demo-fairway-documents",
    );
    expect(parse(readSecretData(map)["documents.yaml"] ?? "")).toEqual({
      apiVersion: "fairway.dev/v1alpha1",
      ...document,
    });
    const { volumes, containers } = requireDeployment(objects).spec.template.spec;
    expect(volumes).toContainEqual({ name: "documents-0", configMap: { name: "team-a" } });
    expect(containers[0].env).toContainEqual({ name: "FAIRWAY_DOCUMENTS_DIR", value: "/documents" });
    const mounts = [
      { name: "documents", mountPath: "/documents/chart", readOnly: true },
      { name: "documents-0", mountPath: "/documents/team-a", readOnly: true },
    ];
    expect(containers[0]["volumeMounts"]).toEqual(expect.arrayContaining(mounts));
  });

  it("read each named Secret from a folder of its name", async () => {
    const { output } = await template(helm, "mysql", ["documents.secrets={openai,mail}"]);
    const { volumes, containers } = requireDeployment(parseObjects(output)).spec.template.spec;
    expect(volumes).toContainEqual({ name: "secret-1", secret: { secretName: "mail" } });
    expect(containers[0].env).toContainEqual({ name: "FAIRWAY_SECRETS_DIR", value: "/secrets" });
    expect(containers[0]["volumeMounts"]).toContainEqual({
      name: "secret-1",
      mountPath: "/secrets/mail",
      readOnly: true,
    });
  });
});

describe("README.md", () => {
  it("says what each value does", () => {
    const rows = readFileSync(join(CHART, "README.md"), "utf8").match(/^\| `.+$/gm) ?? [];
    expect(rows.length).toBeGreaterThan(120);
    expect(rows.filter((row) => row.endsWith("|  |"))).toEqual([]);
  });
});

describe("values.yaml", () => {
  it("and its schema name the same top-level values", () => {
    const schema = JSON.parse(readFileSync(join(CHART, "values.schema.json"), "utf8")) as {
      properties: Record<string, unknown>;
    };
    const named = readFileSync(join(CHART, "values.yaml"), "utf8").match(/^[A-Za-z]+(?=:)/gm) ?? [];
    expect(Object.keys(schema.properties).toSorted()).toEqual([...named].toSorted());
  });
});
