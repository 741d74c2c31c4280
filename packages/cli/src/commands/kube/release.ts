import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { V1Deployment } from "@kubernetes/client-node";
import {
  calling,
  FINALIZER,
  KINDS,
  labelled,
  readMessage,
  openCluster,
  resourcePath,
  listResources,
  send,
  readStatus,
  type Cluster,
  type Kind,
  type KubeOptions,
} from "./cluster.ts";
import { applyKinds } from "./crds.ts";
import { askValues } from "./values.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { plainQuestions } from "../questions.ts";
import type { Output } from "../../print/output.ts";

export interface ReleaseOptions extends KubeOptions {
  readonly release: string;
  readonly chart: string;
  readonly values?: readonly string[];
  readonly set?: readonly string[];
  readonly chartVersion?: string;
  readonly dryRun?: boolean;
  /** Also updates the definitions of the custom resources to this version. */
  readonly crds: boolean;
  /** Asks a person if no values are given. */
  readonly asks: boolean;
}

export interface UninstallOptions extends KubeOptions {
  readonly release: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** Installs or upgrades the release with Helm, and prints Helm's command. */
export async function applyRelease(
  verb: "install" | "upgrade",
  options: ReleaseOptions,
  output: Output,
): Promise<void> {
  const { release, chart, values = [], chartVersion, dryRun = false } = options;
  const cluster = await openCluster(options);
  if (chart.startsWith(".") || chart.startsWith("/") || !chart.includes("/")) requireChart(chart);
  const set = await resolveSetValues(options, output);
  const args = [
    verb,
    release,
    chart,
    ...buildClusterArgs(cluster),
    ...(verb === "install" ? ["--create-namespace"] : []),
    ...values.flatMap((file) => ["--values", file]),
    ...set.flatMap((one) => ["--set", one]),
    ...(chartVersion === undefined ? [] : ["--version", chartVersion]),
    ...(dryRun ? ["--dry-run=server"] : ["--wait", "--timeout", "10m"]),
  ];
  if (options.crds && !dryRun) await calling(cluster, () => applyKinds(cluster));
  await helm(args, output);
}

async function resolveSetValues({ asks, values, set }: ReleaseOptions, { note }: Output): Promise<readonly string[]> {
  if (!asks || values !== undefined || set !== undefined) return set ?? [];
  return askValues(plainQuestions(note));
}

/** Removes the resources first: without a gateway nothing removes their finalizers. */
export async function removeRelease(options: UninstallOptions, output: Output): Promise<void> {
  const { release, dryRun = false, yes } = options;
  const cluster = await openCluster(options);
  const held = await calling(cluster, () => withFinalizer(cluster));
  const args = ["uninstall", release, ...buildClusterArgs(cluster), ...(dryRun ? ["--dry-run"] : ["--wait"])];
  if (held.length > 0) output.note(`${held.length} resources lose the finalizer that only a gateway removes.`);
  if (dryRun) return helm(args, output);
  await output.confirm(`Uninstall ${release} from ${cluster.namespace} in ${cluster.context}`, 1, yes);
  const names = await calling(cluster, () => listDeployments(cluster, release));
  await calling(cluster, () => dropFinalizers(cluster, held));
  await helm(args, output);
  for (const name of names) await dropLease(cluster, name, output);
}

interface Held {
  readonly kind: Kind;
  readonly name: string;
  readonly finalizers: readonly string[];
}

async function withFinalizer(cluster: Cluster): Promise<Held[]> {
  const lists = await Promise.all(
    (Object.keys(KINDS) as Kind[]).map(async (kind) =>
      ((await listResources(cluster, kind)) ?? []).flatMap(({ metadata: { name, finalizers = [] } }) =>
        finalizers.includes(FINALIZER) ? [{ kind, name, finalizers }] : [],
      ),
    ),
  );
  return lists.flat();
}

async function dropFinalizers(cluster: Cluster, held: readonly Held[]): Promise<void> {
  for (const { kind, name, finalizers } of held) {
    const value = { metadata: { finalizers: finalizers.filter((one) => one !== FINALIZER) } };
    const body = { type: "application/merge-patch+json", value };
    await send(cluster, { method: "PATCH", path: `${resourcePath(cluster, kind)}/${name}`, body });
  }
}

async function listDeployments(cluster: Cluster, release: string): Promise<string[]> {
  const all = await labelled<V1Deployment>(cluster, "/apis/apps/v1", "deployments");
  return all.flatMap(({ metadata: { name = "", labels = {} } = {} }) =>
    labels["app.kubernetes.io/instance"] === release ? [name] : [],
  );
}

/** Deletes the Lease that pods created under the name of their deployment; Helm does not know it. */
async function dropLease(cluster: Cluster, name: string, { note }: Output): Promise<void> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${cluster.namespace}/leases/${name}`;
  try {
    await send(cluster, { method: "DELETE", path });
  } catch (thrown) {
    if (readStatus(thrown) !== 404)
      note(`The Lease ${name} stays: ${readMessage(thrown) ?? "it could not be deleted"}`);
  }
}

function buildClusterArgs({ namespace, context }: Cluster): string[] {
  return ["--namespace", namespace, "--kube-context", context];
}

function requireChart(chart: string): void {
  if (existsSync(chart)) return;
  throw new CliError(
    `there is no chart at ${chart}`,
    EXIT.usage,
    "give its folder, archive or oci:// address with --chart",
  );
}

/** Runs Helm, which writes to the terminal itself. */
async function helm(args: readonly string[], { note }: Output): Promise<void> {
  note(`helm ${args.map((arg) => (/^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg}'`)).join(" ")}`);
  const code = await new Promise<number>((resolve, reject) => {
    const child = spawn("helm", args, { stdio: "inherit" });
    child.once("error", () =>
      reject(new CliError("helm was not found in PATH", EXIT.failure, "install Helm 3.18 or later")),
    );
    child.once("close", (ended) => resolve(ended ?? EXIT.failure));
  });
  if (code !== 0) throw new CliError(`helm ended with ${code}`);
}
