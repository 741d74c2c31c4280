// What platform teams set around the gateway: their registry, labels, Secrets with a password alone, rollouts.
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { findHelm } from "@fairway/testkit/helm";
import { template, type Rendered } from "./helm.ts";

const helm = findHelm();

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

interface Pod {
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  readonly containers: readonly {
    readonly image: string;
    readonly env: readonly Variable[];
    readonly lifecycle: unknown;
  }[];
}

async function render(values: string, ...sets: readonly object[]): Promise<Rendered[]> {
  const { code, output } = await template(
    helm,
    values,
    sets.map((set) => JSON.stringify(set)),
  );
  expect(code, output).toBe(0);
  return parseAllDocuments(output).flatMap((document) => (document.toJS() as Rendered | null) ?? []);
}

function find(objects: readonly Rendered[], kind: string, name = ""): Rendered {
  const found = objects.find((object) => object.kind === kind && object.metadata.name.endsWith(name));
  if (!found) throw new Error(`the chart has no ${kind} ${name}`);
  return found;
}

function readSpec<T>(object: Rendered): T {
  return object["spec"] as T;
}

function readPod(object: Rendered): Pod {
  return readSpec<{ template: { spec: Pod } }>(object).template.spec;
}

function readVariable(pod: Pod, name: string): Variable | undefined {
  return pod.containers[0]?.env.find((variable) => variable.name === name);
}

describe("a parent chart", () => {
  it("gives registry and pull secrets to every pod", async () => {
    const objects = await render(
      "job",
      {
        global: { imageRegistry: "mirror.example", imagePullSecrets: ["mirror", { name: "other" }], theirs: { a: 1 } },
      },
      { image: { pullSecrets: [{ name: "own" }, { name: "mirror" }] }, enabled: true },
    );
    const test = readSpec<Pod>(find(objects, "Pod", "-test"));
    for (const pod of [readPod(find(objects, "Deployment")), readPod(find(objects, "Job")), test]) {
      expect(pod.containers[0]?.image).toMatch(/^mirror\.example\/fairway\/gateway:/);
      expect(pod.imagePullSecrets).toEqual([{ name: "own" }, { name: "mirror" }, { name: "other" }]);
    }
  });

  it("does not replace a registry of the chart's own values", async () => {
    const objects = await render("mysql", { global: { imageRegistry: "a.example" }, image: { registry: "b.example" } });
    expect(readPod(find(objects, "Deployment")).containers[0]?.image).toMatch(/^b\.example\//);
  });
});

describe("common labels and annotations", () => {
  it.each(["large", "keda", "gitops", "job", "monitored", "ingress", "sqlite"])(
    "reach every object of %s",
    async (values) => {
      const common = { commonAnnotations: { team: "models" }, commonLabels: { cost: "4711" } };
      const objects = await render(values, { ...common, extraObjects: [] });
      const lacking = objects.filter(
        ({ metadata }) => metadata.annotations?.["team"] !== "models" || metadata.labels?.["cost"] !== "4711",
      );
      expect(lacking.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([]);
    },
  );

  it("give way to an object's own annotations", async () => {
    const objects = await render("mysql", {
      commonAnnotations: { team: "a" },
      service: { annotations: { team: "b" } },
    });
    expect(find(objects, "Service", "-fairway").metadata.annotations).toEqual({ team: "b" });
  });
});

describe("Secrets that hold a password alone", () => {
  const stores = {
    database: {
      host: "mariadb",
      existingSecret: "mariadb",
      existingSecretPasswordKey: "mariadb-password",
      password: "",
    },
    redis: { existingSecret: "redis", existingSecretPasswordKey: "redis-password", url: "redis://cache-master:6379/0" },
  };

  it("complete the addresses of the values, for pods and for the migration", async () => {
    const objects = await render("job", { migrations: { job: { existingSecret: "" } } }, stores);
    for (const pod of [readPod(find(objects, "Deployment")), readPod(find(objects, "Job"))]) {
      expect(readVariable(pod, "FAIRWAY_DATABASE_URL")?.value).toMatch(/^\w+:\/\/[^:@]+@[^@]+$/);
      expect(readVariable(pod, "FAIRWAY_DATABASE_PASSWORD")?.valueFrom?.secretKeyRef).toEqual({
        name: "mariadb",
        key: "mariadb-password",
      });
    }
    const gateway = readPod(find(objects, "Deployment"));
    expect(readVariable(gateway, "FAIRWAY_REDIS_URL")?.value).toBe("redis://cache-master:6379/0");
    expect(readVariable(gateway, "FAIRWAY_REDIS_PASSWORD")?.valueFrom?.secretKeyRef.key).toBe("redis-password");
    expect(objects.some(({ kind, metadata }) => kind === "Secret" && metadata.name.endsWith("-connections"))).toBe(
      false,
    );
  });

  it("are the release's own, which no document reads", async () => {
    const { code, output } = await template(helm, "mysql", [
      JSON.stringify(stores),
      JSON.stringify({ documents: { secrets: ["mariadb"] } }),
    ]);
    expect(code).not.toBe(0);
    expect(output).toContain("documents.secrets names mariadb, a Secret of the release itself");
  });
});

describe("rollouts and ways in", () => {
  it("follow the values", async () => {
    const objects = await render(
      "ingress",
      { strategy: { rollingUpdate: { maxSurge: "50%", maxUnavailable: 1 } }, podDisruptionBudget: { minAvailable: 1 } },
      {
        service: {
          labels: { a: "b" },
          sessionAffinity: "ClientIP",
          sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
        },
      },
      { serviceAccount: { labels: { identity: "use" } }, ingress: { pathType: "ImplementationSpecific" } },
      { lifecycle: { postStart: { exec: { command: ["true"] } } } },
    );
    expect(find(objects, "Deployment")["spec"]).toMatchObject({
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "50%", maxUnavailable: 1 } },
    });
    expect(find(objects, "PodDisruptionBudget")["spec"]).toMatchObject({ minAvailable: 1 });
    expect(find(objects, "PodDisruptionBudget")["spec"]).not.toHaveProperty("maxUnavailable");
    expect(find(objects, "Service", "-fairway")).toMatchObject({
      metadata: { labels: { a: "b" } },
      spec: { sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } },
    });
    expect(find(objects, "ServiceAccount").metadata.labels).toMatchObject({ identity: "use" });
    expect(JSON.stringify(find(objects, "Ingress")["spec"])).toContain('"pathType":"ImplementationSpecific"');
    expect(readPod(find(objects, "Deployment")).containers[0]?.lifecycle).toMatchObject({
      postStart: { exec: { command: ["true"] } },
      preStop: { sleep: { seconds: 10 } },
    });
  });

  it("change the path of a route", async () => {
    const filters = [{ type: "RequestHeaderModifier", requestHeaderModifier: { remove: ["x-debug"] } }];
    const objects = await render("mysql", { httpRoute: { enabled: true, parentRefs: [{ name: "public" }], filters } });
    expect(find(objects, "HTTPRoute")["spec"]).toMatchObject({ rules: [{ filters }] });
  });

  it("with rules of egress still reach the API server where the gateway needs it", async () => {
    const own = { networkPolicy: { enabled: true, egress: [{ ports: [{ port: 3306, protocol: "TCP" }] }] } };
    const api = {
      ports: [
        { port: 443, protocol: "TCP" },
        { port: 6443, protocol: "TCP" },
      ],
    };
    const withGitops = readSpec<{ egress: unknown[] }>(find(await render("gitops", own), "NetworkPolicy"));
    expect(withGitops.egress).toContainEqual(api);
    const without = readSpec<{ egress: unknown[] }>(find(await render("mysql", own), "NetworkPolicy"));
    expect(without.egress).not.toContainEqual(api);
  });
});
