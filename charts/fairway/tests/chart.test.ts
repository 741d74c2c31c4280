import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHART, objectsOf, run, template, unpackHelm, type Rendered } from "./helm.ts";

let helm = "";
let remove = () => {};
const VALUE_SETS = readdirSync(join(CHART, "ci")).map((file) => file.replace(/\.yaml$/, ""));

beforeAll(() => {
  const unpacked = unpackHelm();
  helm = unpacked.path;
  remove = unpacked.remove;
});
afterAll(() => remove());

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
}

function deploymentOf(objects: readonly Rendered[]): {
  readonly spec: {
    readonly replicas: number;
    readonly strategy: { readonly type: string };
    readonly template: { readonly metadata: { readonly labels: Record<string, string> }; readonly spec: PodSpec };
  };
} {
  const found = objects.find(({ kind }) => kind === "Deployment");
  if (!found) throw new Error("no Deployment was rendered");
  return found as never;
}

describe.each(VALUE_SETS)("with the values of ci/%s.yaml", (values) => {
  it.each(["1.30.0", "1.33.0", "1.36.0"])("renders for Kubernetes %s", async (version) => {
    const { code, output } = await template(helm, values, [], version);
    expect({ code, output }).toMatchObject({ code: 0 });
    const objects = objectsOf(output);
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
    const deployment = deploymentOf(objectsOf((await template(helm, values)).output));
    const pod = deployment.spec.template.spec;
    const [gateway] = pod.containers;
    expect(pod).toMatchObject({
      enableServiceLinks: false,
      automountServiceAccountToken: false,
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
    const objects = objectsOf((await template(helm, values)).output);
    const deployment = deploymentOf(objects);
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
    const { spec } = deploymentOf(objectsOf((await template(helm, "mysql")).output));
    expect(Object.keys(spec.template.metadata.labels).sort()).toEqual([
      "app.kubernetes.io/component",
      "app.kubernetes.io/instance",
      "app.kubernetes.io/name",
    ]);
  });

  it("recreates its one pod with SQLite and rolls without a gap otherwise", async () => {
    expect(deploymentOf(objectsOf((await template(helm, "sqlite")).output)).spec).toMatchObject({
      replicas: 1,
      strategy: { type: "Recreate" },
    });
    expect(deploymentOf(objectsOf((await template(helm, "mysql")).output)).spec).toMatchObject({
      replicas: 2,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
  });

  it("prefers a digest over a tag", async () => {
    const digest = `sha256:${"a".repeat(64)}`;
    const { output } = await template(helm, "mysql", ["image.registry=registry.example", `image.digest=${digest}`]);
    expect(output).toContain(`image: registry.example/fairway/gateway@${digest}`);
  });
});

function dataOf(secret: Rendered | undefined): Record<string, string> {
  return (secret?.["data"] ?? {}) as Record<string, string>;
}

describe("secrets", () => {
  it("stand in Secrets and nowhere else", async () => {
    const objects = objectsOf((await template(helm, "mysql")).output);
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

  it("escape a password inside the database URL", async () => {
    const objects = objectsOf((await template(helm, "mysql", ["database.password=p@ss:w/rd"])).output);
    const connections = objects.find(
      ({ kind, metadata }) => kind === "Secret" && metadata.name.endsWith("-connections"),
    );
    const url = Buffer.from(dataOf(connections)["database-url"] ?? "", "base64").toString();
    expect(decodeURIComponent(new URL(url).password)).toBe("p@ss:w/rd");
  });
});

describe("documents", () => {
  it("find each named Secret in a folder of its name", async () => {
    const { output } = await template(helm, "mysql", ["documents.secrets={openai,mail}"]);
    const { volumes, containers } = deploymentOf(objectsOf(output)).spec.template.spec as PodSpec & {
      readonly volumes: readonly object[];
    };
    expect(volumes).toContainEqual({ name: "secret-1", secret: { secretName: "mail" } });
    expect(containers[0].env).toContainEqual({ name: "FAIRWAY_SECRETS_DIR", value: "/secrets" });
    expect(containers[0]["volumeMounts"]).toContainEqual({
      name: "secret-1",
      mountPath: "/secrets/mail",
      readOnly: true,
    });
  });
});

describe("values that cannot work", () => {
  it.each([
    ["sqlite", ["replicaCount=2"], "database.type=sqlite allows one replica"],
    ["mysql", ["database.host="], "database.host or database.existingSecret is required"],
    ["mysql", ["redis.enabled=false"], "more than one replica needs Redis"],
    ["mysql", ["redis.url=redis+cluster://redis:6379"], "does not match pattern"],
    ["mysql", ["redis.url="], "redis.url or redis.existingSecret is required"],
    ["mysql", ["drain.terminationGracePeriodSeconds=60"], "drain.terminationGracePeriodSeconds is shorter"],
    ["mysql", ["extraEnv[0].name=FAIRWAY_PORT", "extraEnv[0].value=1"], "extraEnv sets FAIRWAY_PORT"],
    ["mysql", ["extraEnv[0].name=A", "extraEnv[1].name=A"], "extraEnv names A twice"],
    ["mysql", ["secrets.create=false"], "secrets.existingSecret is required"],
    ["mysql", ["drain.streamSecond=3"], "additional properties 'streamSecond' not allowed"],
    ["mysql", ["server.port=99999"], "maximum"],
    ["mysql", ["database.type=oracle"], "value must be one of"],
  ])("%s with %j: %s", async (values, sets, message) => {
    const { code, output } = await template(helm, values, sets);
    expect(code).not.toBe(0);
    expect(output).toContain(message);
  });
});

describe("values.yaml", () => {
  it("and its schema name the same top-level values", () => {
    const schema = JSON.parse(readFileSync(join(CHART, "values.schema.json"), "utf8")) as {
      properties: Record<string, unknown>;
    };
    const named = readFileSync(join(CHART, "values.yaml"), "utf8").match(/^[A-Za-z]+(?=:)/gm) ?? [];
    expect(
      Object.keys(schema.properties)
        .filter((name) => name !== "global")
        .toSorted(),
    ).toEqual([...named].toSorted());
  });
});
