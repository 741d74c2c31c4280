// Proxies and private authorities among the values.
import { describe, expect, it } from "vitest";
import { findHelm } from "@fairway/testkit/helm";
import { render, type Rendered } from "./helm.ts";

interface Pod {
  readonly containers: readonly [
    {
      readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
      readonly volumeMounts: readonly {
        readonly name: string;
        readonly mountPath: string;
        readonly subPath?: string;
      }[];
    },
  ];
  readonly volumes: readonly { readonly name: string; readonly configMap?: { readonly name: string } }[];
}

const helm = findHelm();

async function renderPods(values: object): Promise<readonly Pod[]> {
  const objects = await render(helm, "job", [JSON.stringify(values)]);
  const readPod = (object: Rendered) => (object["spec"] as { template: { spec: Pod } }).template.spec;
  return ["Deployment", "Job"].flatMap((kind) => objects.filter((object) => object.kind === kind).map(readPod));
}

const readNetwork = ({ containers: [{ env }] }: Pod) =>
  Object.fromEntries(
    env
      .filter(({ name }) => /_PROXY$|_CA_FILE$/.test(name))
      .map(({ name, value, valueFrom }) => [name, value ?? valueFrom]),
  );

describe("a company's network in the values", () => {
  it("is absent by default", async () => {
    const [gateway, job] = await renderPods({});
    expect([gateway, job].map((pod) => pod && readNetwork(pod))).toEqual([{}, {}]);
    expect(JSON.stringify([gateway, job])).not.toContain("authorities");
  });

  it("gives the pods proxies and their exceptions, which a migration does not need", async () => {
    const [gateway, job] = await renderPods({ network: { proxy: { https: "http://proxy:3128" } } });
    expect(gateway && readNetwork(gateway)).toEqual({
      FAIRWAY_HTTPS_PROXY: "http://proxy:3128",
      FAIRWAY_NO_PROXY: ".svc,.cluster.local",
    });
    expect(job && readNetwork(job)).toEqual({});
  });

  it("reads proxies with passwords from a Secret that may lack one of them", async () => {
    const proxy = { existingSecret: "proxy", except: ["10.0.0.0/8"] };
    const [gateway] = await renderPods({ network: { proxy } });
    const secret = (key: string) => ({ secretKeyRef: { name: "proxy", key, optional: true } });
    expect(gateway && readNetwork(gateway)).toEqual({
      FAIRWAY_HTTPS_PROXY: secret("https-proxy"),
      FAIRWAY_HTTP_PROXY: secret("http-proxy"),
      FAIRWAY_NO_PROXY: "10.0.0.0/8",
    });
  });

  it("mounts the ConfigMap of authorities as a folder, which follows its changes, also for migrations", async () => {
    const pods = await renderPods({ network: { authorities: { configMap: "company-ca", key: "bundle.pem" } } });
    expect(pods).toHaveLength(2);
    for (const pod of pods) {
      expect(readNetwork(pod)).toEqual({ FAIRWAY_CA_FILE: "/authorities/bundle.pem" });
      const mounts = pod.containers[0].volumeMounts.filter(({ name }) => name === "authorities");
      expect(mounts).toEqual([{ name: "authorities", mountPath: "/authorities", readOnly: true }]);
      const volumes = pod.volumes.filter(({ name }) => name === "authorities");
      expect(volumes).toEqual([{ name: "authorities", configMap: { name: "company-ca" } }]);
    }
  });
});
