// The example of a parent chart, installed with the commands of its page: MariaDB, Redis, Fairway and an Ingress.
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startCluster, type Cluster } from "@fairway/testkit/cluster";
import { readPageCommands } from "@fairway/testkit/page-commands";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CHART } from "./helm.ts";

const execute = promisify(execFile);
const ROOT = join(CHART, "../..");
const folder = mkdtempSync(join(tmpdir(), "fairway-umbrella-"));
let cluster: Cluster;

beforeAll(async () => {
  // A dependency is built into the folder of the chart.
  for (const path of ["deploy/umbrella", "charts/fairway"])
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  cluster = await startCluster({ fakeNodes: 2 });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await cluster?.stop();
});

/** A simulated node mounts nothing, so any path will do. */
function createVolume(name: string, storage: string): Promise<string> {
  const spec = { capacity: { storage }, accessModes: ["ReadWriteOnce"], hostPath: { path: `/volumes/${name}` } };
  return cluster.apply(JSON.stringify({ apiVersion: "v1", kind: "PersistentVolume", metadata: { name }, spec }));
}

it("is installed by each command of its page, and every pod becomes ready", async () => {
  await createVolume("of-mariadb", "20Gi");
  await createVolume("of-redis", "4Gi");
  const commands = readPageCommands("deploy/umbrella/README.md");
  expect(commands.length).toBeGreaterThan(5);
  const PATH = `${cluster.programs}:${process.env["PATH"] ?? ""}`;
  const env = { PATH, HOME: folder, KUBECONFIG: cluster.kubeconfig };
  for (const command of commands) await execute("bash", ["-euc", command], { cwd: folder, env });
  const ready = ["--for=condition=Ready", "pod", "--all", "-n", "models", "--timeout=90s"];
  await expect.poll(() => cluster.kubectl("wait", ...ready), { timeout: 90_000 }).toContain("condition met");
  const names = await cluster.kubectl("get", "deployment,statefulset,ingress", "-n", "models", "-o", "name");
  expect(names.trim().split("\n").toSorted()).toEqual([
    "deployment.apps/platform-fairway",
    "ingress.networking.k8s.io/platform-fairway",
    "statefulset.apps/mariadb",
    "statefulset.apps/redis",
  ]);
}, 240_000);
