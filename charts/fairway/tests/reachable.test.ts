// `helm test`: the rendered pod, and its script with a gateway and without one.
import { execFile } from "node:child_process";
import { freePort, startGateway, type GatewayProcess } from "@fairway/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findHelm } from "@fairway/testkit/helm";
import { requireObject, render, type Rendered } from "./helm.ts";

const helm = findHelm();
let gateway: GatewayProcess | undefined;
let objects: readonly Rendered[] = [];

beforeAll(async () => {
  objects = await render(helm, "sqlite", ["service.port=8080"]);
  gateway = await startGateway();
});
afterAll(async () => {
  await gateway?.stop();
});

const readPodSpec = () =>
  requireObject(objects, "Pod")["spec"] as {
    readonly restartPolicy: string;
    readonly containers: readonly [
      { readonly image: string; readonly command: readonly string[]; readonly args: readonly string[] },
    ];
  };

/** Runs the pod's script with this address in place of the Service's. */
function runFor(url: string, seconds: string): Promise<{ readonly code: number; readonly output: string }> {
  const [{ command, args }] = readPodSpec().containers;
  const [script = ""] = args;
  return new Promise((resolve) => {
    execFile(process.execPath, [...command.slice(1), script, url, seconds], (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr });
    });
  });
}

describe("the pod of helm test", () => {
  it("runs on the gateway's image once, only when asked to, and asks the Service", () => {
    const { metadata } = requireObject(objects, "Pod");
    expect(metadata.annotations).toMatchObject({ "helm.sh/hook": "test" });
    const { restartPolicy, containers } = readPodSpec();
    expect(restartPolicy).toBe("Never");
    const deployment = requireObject(objects, "Deployment")["spec"] as {
      template: { spec: { containers: { image: string }[] } };
    };
    expect(containers[0].image).toBe(deployment.template.spec.containers[0]?.image);
    expect(containers[0].command[0]).toBe("/app/node_modules/node/bin/node");
    expect(containers[0].args.slice(1)).toEqual(["http://demo-fairway:8080", "60"]);
  });

  it("needs no ServiceAccount that the chart has yet to make", async () => {
    const renderServiceAccount = async (settings: readonly string[]) =>
      (requireObject(await render(helm, "sqlite", settings), "Pod")["spec"] as { serviceAccountName?: string })
        .serviceAccountName;
    expect(await renderServiceAccount([])).toBeUndefined();
    expect(await renderServiceAccount(["serviceAccount.create=false", "serviceAccount.name=mine"])).toBe("mine");
  });

  it("is no gateway to Services, budgets and the Deployment", async () => {
    const labels = Object.entries(requireObject(objects, "Pod").metadata.labels ?? {}).map((label) => label.join("="));
    const selectors = [...objects, ...(await render(helm, "mysql"))].flatMap((object) => {
      const { selector } = (object["spec"] ?? {}) as { selector?: { matchLabels?: object } };
      return selector ? [Object.entries(selector.matchLabels ?? selector).map((label) => label.join("="))] : [];
    });
    expect(selectors.length).toBeGreaterThan(5);
    expect(selectors.filter((selector) => selector.every((label) => labels.includes(label)))).toEqual([]);
  });

  it("succeeds when a gateway answers", async () => {
    const url = gateway?.url ?? "";
    expect(await runFor(url, "60")).toEqual({ code: 0, output: `${url} leads to a gateway that answers\n` });
  });

  it("fails with the reason when no server or another server answers", async () => {
    const closed = `http://127.0.0.1:${await freePort()}`;
    expect(await runFor(closed, "0")).toEqual({
      code: 1,
      output: expect.stringMatching(`^${closed} leads to no gateway: connect ECONNREFUSED`) as string,
    });
    const other = await runFor(gateway?.adminUrl ?? "", "0");
    expect(other).toMatchObject({ code: 1, output: expect.stringContaining("status 404") as string });
  });
});
