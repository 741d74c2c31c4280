// `fairway kube leader --step-down` and `fairway kube gitops`, with two replicas behind an API server.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT_PASSWORD, startGateway, type GatewayProcess } from "@fairway/testkit";
import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import { startPodServer, type PodServer } from "@fairway/testkit/pod-server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "./terminal.ts";

let server: PodServer;
let home: string;
const gateways: GatewayProcess[] = [];

beforeAll(async () => {
  const [database, redis] = [await createDatabase("sqlite"), await freshRedis()];
  server = await startPodServer();
  home = await mkdtemp(join(tmpdir(), "fairway-cli-"));
  for (const pod of ["pod-1", "pod-2"]) {
    const gateway = await startGateway({ database, redis: redis.url, env: { FAIRWAY_INSTANCE_ID: pod } });
    gateways.push(gateway);
    server.pods.set(pod, Number(new URL(gateway.url).port));
  }
  const login = ["login", gateways[1]?.url ?? "", "--username", "root", "--password-stdin"];
  expect(await run(login, env(), ROOT_PASSWORD)).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await Promise.all(gateways.map((one) => one.stop()));
  await server?.stop();
  if (home) await rm(home, { recursive: true });
});

const env = () => ({ KUBECONFIG: server.kubeconfig, FAIRWAY_CONFIG: join(home, "credentials.json") });
const kube = (args: string) => run(["kube", ...args.split(" ")], env());
const said = async (path: string) => (await run(["api", "GET", path], env())).out;

describe("fairway kube leader --step-down", () => {
  test("the leader gives way to the other pod, and the audit log says who asked", async () => {
    const { code, out, err } = await kube("leader --step-down -o json");
    expect(code, err).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ leader: "pod-2", before: "pod-1" });
    expect(gateways[0]?.logs).toContainEqual(
      expect.objectContaining({ message: "no longer leading", reason: "it was asked to step down" }),
    );
    const back = await kube("leader --step-down");
    expect(back).toMatchObject({ code: 0, err: "pod-2 stepped down, and pod-1 leads.\n" });
    expect(await said("/api/audit/?action=systemStepDown")).toContain('"username": "root"');
  });

  test("prints the call with --dry-run, and refuses a gateway of another namespace", async () => {
    const dry = await kube("leader --step-down --dry-run");
    expect(dry).toMatchObject({ code: 0 });
    expect(dry.out + dry.err).toMatch(/POST http\S+\/api\/system\/leader\/step-down/);
    const pods = [...server.pods];
    server.pods.clear();
    server.pods.set("other", 1);
    const { code, err } = await kube("leader --step-down");
    server.pods.clear();
    for (const [pod, port] of pods) server.pods.set(pod, port);
    expect(code).toBe(2);
    expect(err).toContain("is not the gateway in namespace ai of test");
    expect(err).toContain("fairway login --kube");
  });
});

describe("fairway kube gitops", () => {
  const paused = async () => (await run(["option", "get", "KubernetesPaused", "-o", "raw"], env())).out.trim();

  test("pauses and resumes all resources, and says when that is so already", async () => {
    const { code, err } = await kube("gitops pause");
    expect(code, err).toBe(0);
    expect(err).toContain("`fairway kube gitops resume`");
    expect(await paused()).toBe("true");
    expect((await kube("gitops pause")).err).toContain("already left alone");
    expect(JSON.parse((await kube("gitops resume -o json")).out)).toMatchObject({ paused: false });
    expect(await paused()).toBe("false");
    expect((await kube("gitops resume")).err).toContain("already followed");
  });

  test("has a resource compared now, and lists why one is paused", async () => {
    const path = "/apis/fairway.dev/v1alpha1/namespaces/ai/channels";
    const condition = (type: string, status: string, message: string) => ({ type, status, reason: "Paused", message });
    const status = {
      conditions: [condition("Ready", "False", "Not ready."), condition("Programmed", "Unknown", "The option is on.")],
    };
    server.objects.set(`${path}/main`, { metadata: { name: "main" }, status });
    expect(await kube("gitops reconcile channel/main")).toMatchObject({ code: 0 });
    const annotated = JSON.stringify(server.objects.get(`${path}/main`));
    expect(annotated).toMatch(/"fairway\.dev\/reconcile-at":"\d{4}-/);
    server.objects.set(path, { items: [server.objects.get(`${path}/main`)] });
    for (const words of ["gitops", "gitops status"])
      expect((await kube(`${words} -n ai -o jsonl`)).out).toContain('"message":"The option is on."');
    expect(await kube("gitops reconcile channel/gone")).toMatchObject({ code: 3 });
    const { code, err } = await kube("gitops reconcile chanel/main");
    expect(code).toBe(2);
    expect(err).toContain("the kinds are channel, optionset, token, budget");
  });
});
