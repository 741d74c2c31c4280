import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadEnv } from "../config/env.ts";
import { openStoreKit, type StoreKit } from "../../test/kit/store-kit.ts";
import { recordingLog } from "../../test/kit/support.ts";
import type { KubeApi } from "../kubernetes/client/api.ts";
import { MemoryCluster } from "../kubernetes/memory-cluster.contract.ts";
import { createMetrics } from "../observability/metrics.ts";
import { selectElector } from "./leader.ts";

let kit: StoreKit;
beforeEach(async () => void (kit = await openStoreKit("sqlite::memory:")));
afterEach(() => kit.database.close());

const SERVER = { FAIRWAY_DATABASE_URL: "postgres://fairway@db/fairway", FAIRWAY_REDIS_URL: "redis://redis" };
const IN_CLUSTER = { ...SERVER, FAIRWAY_KUBERNETES_CONFIG: "/etc/kubeconfig" };

/** An API server that allows these verbs on Leases, or does not respond. */
function apiWith(verbs: readonly string[] | Error): () => Promise<KubeApi> {
  const api = new MemoryCluster().connect();
  const create: KubeApi["create"] = (path, body, signal) => {
    if (!path.endsWith("selfsubjectaccessreviews")) return api.create(path, body, signal);
    if (verbs instanceof Error) return Promise.reject(verbs);
    const { spec } = body as { readonly spec: { readonly resourceAttributes: { readonly verb: string } } };
    const status = { allowed: verbs.includes(spec.resourceAttributes.verb) };
    return Promise.resolve({ metadata: { name: "" }, status });
  };
  return () => Promise.resolve({ ...api, namespace: "ai", create });
}

async function openElector(variables: Readonly<Record<string, string>>, open: () => Promise<KubeApi>) {
  const { log, lines } = recordingLog();
  const core = {
    env: loadEnv(variables),
    storage: { database: kit.database },
    clock: { now: () => Date.now() },
    log,
    metrics: createMetrics({ version: "0" }),
  };
  const elector = await selectElector(core as never, open);
  await elector.start();
  const { isLeader } = elector;
  await elector.stop();
  return {
    isLeader,
    said: lines()
      .split("\n")
      .filter((line) => line.includes("elected by")),
  };
}

const ALL = ["create", "get", "update"];
const refuse = () => Promise.reject(new Error("not asked for"));

describe("FAIRWAY_LEADER", () => {
  test.each([
    ["auto with all rights", {}, ALL, ["Lease of Kubernetes", "may create, get and update it"]],
    ["auto with a verb missing", {}, ["create", "get"], ["row of the database", "may not update leases in ai"]],
    ["auto without an answer", {}, new Error("ECONNREFUSED"), ["row of the database", "ECONNREFUSED"]],
    ["lease", { FAIRWAY_LEADER: "lease" }, ALL, ["Lease of Kubernetes", "may create"]],
    ["lease without an answer", { FAIRWAY_LEADER: "lease" }, new Error("away"), ["Lease of Kubernetes", "unknown"]],
    ["database", { FAIRWAY_LEADER: "database" }, ALL, ["row of the database", "FAIRWAY_LEADER=database"]],
  ])("%s says in one line what elects and why", async (_, variables, verbs, words) => {
    const { said, isLeader } = await openElector({ ...IN_CLUSTER, ...variables }, apiWith(verbs));
    expect(isLeader).toBe(true);
    expect(said).toHaveLength(1);
    for (const word of words) expect(said[0]).toContain(word);
  });

  test("auto outside of a cluster takes the database", async () => {
    const { said } = await openElector(SERVER, refuse);
    expect(said[0]).toContain("no token of a Kubernetes service account is mounted");
  });

  test.each([
    ["without the token of a pod", SERVER, "mount it, or set FAIRWAY_LEADER=database"],
    [
      "without a right",
      IN_CLUSTER,
      "may not create, update leases in ai: grant the verb, or set FAIRWAY_LEADER=database",
    ],
    ["for a process that is alone", {}, "SQLite without Redis belongs to one process"],
  ])("lease %s is refused with the cure", async (_, variables, cure) => {
    await expect(openElector({ ...variables, FAIRWAY_LEADER: "lease" }, apiWith(["get"]))).rejects.toThrow(cure);
  });
});
