import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { createDatabaseElector, createSingleElector, type Elector } from "../jobs/leader.ts";
import { NAMESPACE_FILE, podNamespace } from "../kubernetes/client/api-server.ts";
import { connect, type KubeApi } from "../kubernetes/client/api.ts";
import { KubernetesLease, lackingVerbs, type LeaseSettings } from "../kubernetes/lease.ts";
import { withinTime } from "../lib/async/time-limit.ts";
import { describeError } from "../observability/reason.ts";
import type { Core } from "./core.ts";
import { StartError } from "./storage.ts";

/** Time for the API server to report the rights of this replica. */
const ANSWER_MS = 3_000;
const OR_DATABASE = "or set FAIRWAY_LEADER=database (chart: leaderElection.backend)";

type ElectorCore = Pick<Core, "env" | "storage" | "clock" | "log" | "metrics">;

/** Creates the elector that FAIRWAY_LEADER selects. Throws StartError if a Lease is required but cannot be used. */
export async function selectElector(core: ElectorCore, open: typeof connect = connect): Promise<Elector> {
  const { env, metrics } = core;
  const elector = env.isEmbedded ? alone(core) : await electedBy(core, open);
  elector.subscribe((isLeader) => {
    if (!isLeader) metrics.setChannels([]);
  });
  metrics.watch({ isLeader: () => elector.isLeader });
  return elector;
}

function alone({ env }: ElectorCore): Elector {
  if (env.leader === "lease")
    throw new StartError(
      "FAIRWAY_LEADER=lease is for several replicas, and SQLite without Redis belongs to one process, which always leads: set FAIRWAY_LEADER=auto",
    );
  return createSingleElector();
}

async function electedBy(core: ElectorCore, open: typeof connect): Promise<Elector> {
  const { env, storage, clock, log, metrics } = core;
  const holder = `${env.instanceId}-${randomUUID()}`;
  const settings = { database: storage.database.raw, holder, clock, log, metrics };
  // A process without the role `jobs` never contends.
  if (!env.roles.has("jobs")) return createDatabaseElector(settings);
  const { lease, reason } = await chooseLease(core, holder, open);
  if (!lease) {
    log.info("the leader is elected by a row of the database", { reason });
    return createDatabaseElector(settings);
  }
  const { namespace, name } = lease;
  log.info("the leader is elected by a Lease of Kubernetes", { lease: `${namespace}/${name}`, reason });
  return createDatabaseElector({ ...settings, permit: new KubernetesLease(lease) });
}

interface ElectionChoice {
  readonly lease?: LeaseSettings;
  readonly reason: string;
}

async function chooseLease({ env, clock }: ElectorCore, holder: string, open: typeof connect): Promise<ElectionChoice> {
  const { leader, leaderLease: name, kubernetesConfig } = env;
  if (leader === "database") return { reason: "FAIRWAY_LEADER=database" };
  const isDemanded = leader === "lease";
  if (kubernetesConfig === undefined && !existsSync(NAMESPACE_FILE)) {
    const reason = "no token of a Kubernetes service account is mounted";
    if (isDemanded) throw new StartError(`FAIRWAY_LEADER=lease, and ${reason}: mount it, ${OR_DATABASE}`);
    return { reason };
  }
  const api = await open(kubernetesConfig);
  const lease = { api, namespace: resolveNamespace(api), name, holder, clock };
  try {
    const lacking = await withinTime(ANSWER_MS, (limit) => lackingVerbs(lease, limit));
    if (lacking.length === 0) return { lease, reason: "the service account may create, get and update it" };
    const reason = `the service account may not ${lacking.join(", ")} leases in ${lease.namespace}`;
    if (isDemanded) throw new StartError(`FAIRWAY_LEADER=lease, and ${reason}: grant the verb, ${OR_DATABASE}`);
    await api.close();
    return { reason };
  } catch (error) {
    if (error instanceof StartError) throw error;
    // Traffic does not wait for the API server; a replica without the Lease does not lead.
    if (isDemanded) return { lease, reason: `FAIRWAY_LEADER=lease; its rights are unknown: ${describeError(error)}` };
    await api.close();
    return { reason: `the API server did not say whether a Lease may be used: ${describeError(error)}` };
  }
}

function resolveNamespace({ namespace }: KubeApi): string {
  return namespace ?? podNamespace() ?? "default";
}
