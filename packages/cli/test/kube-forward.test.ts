// `fairway kube port-forward` and `fairway login --kube`, through an API server that leads to two pods.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT_PASSWORD, startGateway, type GatewayProcess } from "@fairway/testkit";
import { startPodServer, type PodServer } from "@fairway/testkit/pod-server";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openTerminal, PROGRAM, run } from "./terminal.ts";

let server: PodServer;
let gateway: GatewayProcess;
let home: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  [server, gateway] = await Promise.all([startPodServer(), startGateway()]);
  home = await mkdtemp(join(tmpdir(), "fairway-cli-"));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  server.pods.clear();
  server.objects.clear();
});
afterAll(async () => {
  await Promise.all([server?.stop(), gateway?.stop()]);
  await rm(home, { recursive: true });
});

const env = () => ({ KUBECONFIG: server.kubeconfig, FAIRWAY_CONFIG: join(home, "credentials.json") });
const port = () => Number(new URL(gateway.url).port);

/** Runs the command on a free port; resolves when it listens. */
async function forward(...args: string[]) {
  const child = spawn(process.execPath, [PROGRAM, "kube", "port-forward", "0", ...args], {
    env: { PATH: process.env["PATH"], ...env() },
  });
  children.push(child);
  let said = "";
  child.stderr.on("data", (part: Buffer) => (said += part.toString()));
  await expect.poll(() => said, { timeout: 20_000 }).toContain("Ctrl+C ends it");
  return { url: /http:\S+/.exec(said)?.[0] ?? "", child, said: () => said };
}

describe("fairway kube port-forward", () => {
  test("leads to a pod, and to another one when that pod ends", async () => {
    server.pods.set("first", port());
    const { url, said } = await forward();
    expect((await fetch(`${url}/api/status`)).status).toBe(200);
    server.pods.set("second", port());
    server.end("first");
    await expect
      .poll(
        () =>
          fetch(`${url}/api/status`).then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: 20_000 },
      )
      .toBe(200);
    expect(said()).toMatch(/through first[^]*through second/);
  });

  test("holds a connection while no pod is ready", async () => {
    server.pods.set("first", port());
    const { url } = await forward();
    server.end("first");
    const answer = fetch(`${url}/api/status`);
    setTimeout(() => server.pods.set("second", port()), 1_500);
    expect((await answer).status).toBe(200);
  });

  test("carries megabytes in both directions", async () => {
    const echo = createServer((socket) => socket.pipe(socket)).listen(0, "127.0.0.1");
    await once(echo, "listening");
    server.pods.set("echo", (echo.address() as AddressInfo).port);
    const { url } = await forward();
    const { createConnection } = await import("node:net");
    const socket = createConnection(Number(new URL(url).port), "127.0.0.1");
    const sent = Buffer.alloc(8_000_000, "fairway ");
    let got = 0;
    socket.on("data", (chunk: Buffer) => (got += chunk.length));
    socket.write(sent);
    await expect.poll(() => got, { timeout: 20_000 }).toBe(sent.length);
    socket.destroy();
    echo.close();
  });

  test("ends with Ctrl+C, and says which pod or port is missing", async () => {
    const { code, err } = await run(["kube", "port-forward"], env());
    expect(code).toBe(3);
    expect(err).toContain("no pod with app.kubernetes.io/name=fairway in ai is ready");
    expect((await run(["kube", "port-forward", "70000"], env())).err).toContain("give a port from 1 to 65535");
    server.pods.set("first", port());
    expect((await run(["kube", "port-forward", String(port())], env())).err).toContain(`port ${port()} is in use`);
    const terminal = openTerminal(["kube", "port-forward", "0"], env());
    await terminal.sees("Ctrl+C ends it");
    terminal.type("\u0003");
    expect(await terminal.exited).toBe(130);
  });
});

describe("fairway login --kube", () => {
  const deployment = (variables: readonly object[]) => {
    const containers = [{ name: "gateway", env: variables }];
    return { items: [{ metadata: { name: "fairway" }, spec: { template: { spec: { containers } } } }] };
  };
  const DEPLOYMENTS = "/apis/apps/v1/namespaces/ai/deployments";
  const secret = {
    name: "FAIRWAY_SESSION_SECRET",
    valueFrom: { secretKeyRef: { name: "own", key: "session-secret" } },
  };

  test("signs in as root with the chart's Secret, and keeps the public address", async () => {
    server.pods.set("first", port());
    server.objects.set(
      DEPLOYMENTS,
      deployment([secret, { name: "FAIRWAY_PUBLIC_URL", value: "https://ai.example.com" }]),
    );
    const data = { "root-password": Buffer.from(ROOT_PASSWORD).toString("base64") };
    server.objects.set("/api/v1/namespaces/ai/secrets/own", { data });
    const { code, err } = await run(["login", "--kube"], env());
    expect(code, err).toBe(0);
    expect(err).toContain("Signed in to https://ai.example.com as root");
    const stored = JSON.parse(await readFile(env().FAIRWAY_CONFIG, "utf8")) as { server: string; token: string };
    expect(stored.server).toBe("https://ai.example.com");
    const headers = { Authorization: `Bearer ${stored.token}` };
    expect((await fetch(`${gateway.url}/api/user/self`, { headers })).status).toBe(200);
  });

  test("requests the password where the Secret cannot be read, and names port-forward where nothing else leads there", async () => {
    server.pods.set("first", port());
    server.objects.set(DEPLOYMENTS, deployment([secret]));
    const terminal = openTerminal(["login", "--kube", "--username", "root"], env());
    await terminal.sees("Password:");
    terminal.type(`${ROOT_PASSWORD}\r`);
    expect(await terminal.exited).toBe(0);
    expect(terminal.shown).toContain("Signed in to http://127.0.0.1:3000 as root");
    expect(terminal.shown).toContain("fairway kube port-forward -n ai");
  });

  test("says what is missing", async () => {
    server.objects.set(DEPLOYMENTS, { items: [] });
    const { code, err } = await run(["login", "--kube"], env());
    expect(code).toBe(3);
    expect(err).toContain("no deployment with app.kubernetes.io/name=fairway in ai");
  });
});
