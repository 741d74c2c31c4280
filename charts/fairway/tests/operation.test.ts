// Values of the running gateway: traces, outages of Redis, the disk of uploads.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findHelm } from "@fairway/testkit/helm";
import { CHART, render, requireObject, template } from "./helm.ts";

const VARIABLES = readFileSync(join(CHART, "../../docs/reference/environment.md"), "utf8");
const helm = findHelm();

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: object; readonly fieldRef?: object };
}
interface Pod {
  readonly containers: readonly [{ readonly env: readonly Variable[]; readonly resources: object }];
  readonly volumes: readonly { readonly name: string; readonly emptyDir?: object }[];
}

async function renderPod(...sets: string[]): Promise<Pod> {
  const { template: pod } = requireObject(await render(helm, "mysql", sets), "Deployment")["spec"] as {
    readonly template: { readonly spec: Pod };
  };
  return pod.spec;
}

const findVariable = ({ containers: [gateway] }: Pod, name: string) => gateway.env.find((one) => one.name === name);

describe("traces", () => {
  it("are off by default", async () => {
    expect(JSON.stringify(await renderPod())).not.toContain("OTLP");
  });

  it("go to the collector, with the place of the pod as attributes", async () => {
    const tracing = {
      endpoint: "http://otel-collector:4318",
      existingSecret: "otel",
      sample: 0.1,
      attributes: { "deployment.environment.name": "pro, d" },
    };
    const pod = await renderPod(JSON.stringify({ tracing }));
    const value = (name: string) => findVariable(pod, name)?.value;
    expect(value("FAIRWAY_OTLP_ENDPOINT")).toBe("http://otel-collector:4318");
    expect([value("FAIRWAY_TRACE_SAMPLE"), value("FAIRWAY_GENAI_CONVENTION")]).toEqual(["0.1", "1.37"]);
    expect(value("FAIRWAY_TRACE_SERVICE")).toBe("demo-fairway");
    expect(findVariable(pod, "FAIRWAY_OTLP_HEADERS")?.valueFrom).toEqual({
      secretKeyRef: { name: "otel", key: "headers" },
    });
    expect(value("FAIRWAY_TRACE_ATTRIBUTES")?.split(",")).toEqual([
      "deployment.environment.name=pro%2C%20d",
      "k8s.deployment.name=demo-fairway",
      "k8s.namespace.name=models",
      "k8s.node.name=$(K8S_NODE_NAME)",
      "k8s.pod.name=$(FAIRWAY_INSTANCE_ID)",
    ]);
    const names = pod.containers[0].env.map(({ name }) => name);
    // Kubernetes replaces only variables that come earlier.
    for (const name of ["K8S_NODE_NAME", "FAIRWAY_INSTANCE_ID"])
      expect(names.indexOf(name)).toBeLessThan(names.indexOf("FAIRWAY_TRACE_ATTRIBUTES"));
    for (const name of ["FAIRWAY_TRACE_SERVICE", "FAIRWAY_TRACE_ATTRIBUTES"])
      expect(VARIABLES).toContain(`| \`${name}\` |`);
  });

  it.each([
    ['{"tracing":{"attributes":{"a":"b"}}}', "without tracing.endpoint"],
    ["tracing.endpoint=otel-collector:4318", "tracing.endpoint"],
    ["tracing.convention=2", "convention"],
    ["tracing.smaple=1", "smaple"],
    [
      '{"gitops":{"enabled":true,"secretNames":["otel"]},"tracing":{"endpoint":"http://o","existingSecret":"otel"}}',
      "a Secret of the release itself",
    ],
  ])("refuses %s", async (set, sentence) => {
    const { code, output } = await template(helm, "mysql", [set]);
    expect(code).not.toBe(0);
    expect(output).toContain(sentence);
  });
});

describe("an outage of Redis", () => {
  it("refuses new calls by default, or reserves in the database", async () => {
    expect(findVariable(await renderPod(), "FAIRWAY_QUOTA_ON_OUTAGE")?.value).toBe("deny");
    expect(findVariable(await renderPod("redis.quotaOnOutage=sql"), "FAIRWAY_QUOTA_ON_OUTAGE")?.value).toBe("sql");
    expect(await template(helm, "mysql", ["redis.quotaOnOutage=allow"])).not.toMatchObject({ code: 0 });
  });
});

describe("the disk of uploads", () => {
  it.each([
    ["1Gi", "768"],
    ["512Mi", "384"],
    ["8Gi", "6144"],
  ])("of %s is used up to %s MiB, so that the kubelet does not evict the pod", async (tmpSize, megabytes) => {
    const pod = await renderPod(`tmpSize=${tmpSize}`);
    expect(pod.volumes.find(({ name }) => name === "tmp")?.emptyDir).toEqual({ sizeLimit: tmpSize });
    expect(findVariable(pod, "FAIRWAY_SPOOL_MEGABYTES")?.value).toBe(megabytes);
  });

  it("is requested and limited as ephemeral storage", async () => {
    const pod = await renderPod();
    expect(pod.containers[0].resources).toMatchObject({
      requests: { "ephemeral-storage": "256Mi" },
      limits: { "ephemeral-storage": "2560Mi" },
    });
  });
});
