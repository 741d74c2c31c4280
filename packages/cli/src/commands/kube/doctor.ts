import type { V1Deployment } from "@kubernetes/client-node";
import {
  calling,
  FINALIZER,
  KINDS,
  labelled,
  openCluster,
  readReadiness,
  request,
  listResources,
  type Cluster,
  type Kind,
  type KubeOptions,
  type Resource,
} from "./cluster.ts";
import { kindStates } from "./crds.ts";
import { EXIT } from "../../core/exit.ts";
import { plain } from "../../print/columns.ts";
import { printList, type Output, type Shape } from "../../print/output.ts";

interface Finding {
  readonly check: string;
  readonly result: "ok" | "warning" | "failed";
  readonly detail: string;
  readonly cure: string;
}

const FINDINGS: Shape<Finding> = {
  kind: "Check",
  columns: [plain("RESULT", "result"), plain("CHECK", "check"), plain("DETAIL", "detail"), plain("CURE", "cure")],
};

const REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
const LEAST_MINOR = 30;
/** A deletion that takes longer is stuck. */
const STUCK_MS = 600_000;
const CONTROLLER = "FAIRWAY_KUBERNETES_CONTROLLER";

const ok = (check: string, detail: string): Finding => ({ check, result: "ok", detail, cure: "" });
const failed = (check: string, detail: string, cure: string): Finding => ({ check, result: "failed", detail, cure });
const warning = (check: string, detail: string, cure: string): Finding => ({ check, result: "warning", detail, cure });

/** Checks an installation in a cluster; exit 1 if a check fails. */
export async function runDoctor(options: KubeOptions, output: Output): Promise<void> {
  const cluster = await openCluster(options);
  const rows = await calling(cluster, () => collectFindings(cluster));
  await printList(output, { ...FINDINGS, rows, empty: "" });
  if (rows.some(({ result }) => result === "failed")) process.exitCode = EXIT.failure;
}

async function collectFindings(cluster: Cluster): Promise<Finding[]> {
  const version = await request<{ gitVersion: string; minor: string }>(cluster, { path: "/version" });
  const deployments = await labelled<V1Deployment>(cluster, "/apis/apps/v1", "deployments");
  return [
    serverFinding(version.gitVersion, Number.parseInt(version.minor, 10)),
    ...deploymentFindings(deployments, cluster),
    await kindsFinding(cluster),
    ...(await controllerFindings(cluster, deployments)),
    ...(await leaseFindings(cluster, deployments)),
    ...(await resourceFindings(cluster)),
  ];
}

function serverFinding(version: string, minor: number): Finding {
  if (minor >= LEAST_MINOR) return ok("API server", version);
  return failed("API server", `${version} is older than 1.${LEAST_MINOR}`, "upgrade the cluster");
}

function deploymentFindings(deployments: readonly V1Deployment[], { namespace, selector }: Cluster): Finding[] {
  if (deployments.length === 0)
    return [
      failed(
        "deployment",
        `none with ${selector} in ${namespace}`,
        "fairway kube install, or choose -n and --selector",
      ),
    ];
  return deployments.map(({ metadata, spec, status }) => {
    const [ready, wanted] = [status?.readyReplicas ?? 0, spec?.replicas ?? 1];
    const detail = `${metadata?.name ?? ""}: ${ready} of ${wanted} pods ready`;
    if (ready === wanted) return ok("deployment", detail);
    return failed("deployment", detail, `kubectl describe pods -n ${namespace} -l ${selector}`);
  });
}

async function kindsFinding(cluster: Cluster): Promise<Finding> {
  const wrong = (await kindStates(cluster)).filter(({ state }) => state !== "same");
  if (wrong.length === 0) return ok("definitions", "as this version has them");
  const detail = wrong.map(({ name, state }) => `${name}: ${state}`).join(", ");
  return failed("definitions", detail, "fairway kube crds install");
}

async function controllerFindings(cluster: Cluster, deployments: readonly V1Deployment[]): Promise<Finding[]> {
  const following = deployments.filter(({ spec }) => findVariable(spec?.template.spec, CONTROLLER) === "true");
  const [first] = following;
  if (!first)
    return [warning("controller", "no deployment here follows resources", "set gitops.enabled=true in the chart")];
  const pod = first.spec?.template.spec;
  const account = pod?.serviceAccountName ?? "default";
  const namespaces = (findVariable(pod, "FAIRWAY_KUBERNETES_NAMESPACES") ?? "").split(",").filter((one) => one !== "");
  const secretNames = (findVariable(pod, "FAIRWAY_KUBERNETES_SECRETS") ?? "").split(",").filter((one) => one !== "");
  const places = namespaces.length > 0 ? namespaces : [cluster.namespace];
  const cure = "helm upgrade with gitops.enabled=true makes the Role";
  const rights = listRights(secretNames);
  return Promise.all(
    places.map((place) => rightsFinding(cluster, { check: `rights in ${place}`, account, place, rights, cure })),
  );
}

/** Checks the Lease, if pods elect their leader by one. */
async function leaseFindings(cluster: Cluster, deployments: readonly V1Deployment[]): Promise<Finding[]> {
  const pods = deployments.flatMap(({ spec }) => spec?.template.spec ?? []);
  const pod = pods.find((one) => {
    const elected = findVariable(one, "FAIRWAY_LEADER");
    return elected === "lease" || (elected === "auto" && one.automountServiceAccountToken === true);
  });
  if (!pod) return [];
  const lease = { group: "coordination.k8s.io", resource: "leases" };
  const name = findVariable(pod, "FAIRWAY_LEADER_LEASE") ?? "fairway";
  const rights = [{ ...lease, verb: "create" }, ...["get", "update"].map((verb) => ({ ...lease, verb, name }))];
  const account = pod.serviceAccountName ?? "default";
  const cure = "helm upgrade with leaderElection.backend=lease makes the Role, or choose database";
  const place = cluster.namespace;
  return [await rightsFinding(cluster, { check: "rights on the Lease", account, place, rights, cure })];
}

function findVariable(pod: NonNullable<V1Deployment["spec"]>["template"]["spec"], name: string): string | undefined {
  return pod?.containers[0]?.env?.find((one) => one.name === name)?.value;
}

interface Right {
  readonly verb: string;
  readonly resource: string;
  readonly group: string;
  readonly subresource?: string;
  readonly name?: string;
}

interface Account {
  readonly check: string;
  readonly account: string;
  readonly place: string;
  readonly rights: readonly Right[];
  readonly cure: string;
}

function listRights(secretNames: readonly string[]): Right[] {
  const own = { group: "fairway.dev" };
  const plurals = Object.values(KINDS);
  const names = secretNames.length > 0 ? secretNames.map((name) => ({ name })) : [{}];
  return [
    ...plurals.flatMap((resource) => ["list", "watch", "patch"].map((verb) => ({ ...own, resource, verb }))),
    ...plurals.map((resource) => ({ ...own, resource, verb: "patch", subresource: "status" })),
    ...names.flatMap((one) => ["list", "watch"].map((verb) => ({ group: "", resource: "secrets", verb, ...one }))),
    { group: "", resource: "events", verb: "create" },
  ];
}

async function rightsFinding(cluster: Cluster, wanted: Account): Promise<Finding> {
  const { check, account, place, rights, cure } = wanted;
  const user = `system:serviceaccount:${cluster.namespace}:${account}`;
  const lacking: string[] = [];
  await Promise.all(
    rights.map(async ({ verb, resource, group, subresource, name }) => {
      const resourceAttributes = {
        namespace: place,
        verb,
        group,
        resource,
        ...(subresource !== undefined && { subresource }),
        ...(name !== undefined && { name }),
      };
      const value = {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        spec: { user, resourceAttributes },
      };
      const body = { type: "application/json", value };
      const { status } = await request<{ status: { allowed: boolean } }>(cluster, {
        method: "POST",
        path: REVIEWS,
        body,
      });
      if (!status.allowed) lacking.push(`${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`}`);
    }),
  );
  if (lacking.length === 0) return ok(check, `${account} has them all`);
  return failed(check, `${account} lacks ${lacking.toSorted((a, b) => (a < b ? -1 : 1)).join(", ")}`, cure);
}

async function resourceFindings(cluster: Cluster): Promise<Finding[]> {
  const lists = await Promise.all(
    (Object.keys(KINDS) as Kind[]).map(async (kind) => ({ kind, items: (await listResources(cluster, kind)) ?? [] })),
  );
  const all = lists.flatMap(({ kind, items }) => items.map((item) => ({ kind, item })));
  if (all.length === 0) return [];
  const wrong = all.flatMap(({ kind, item }) => {
    const { isReady, isSuspended, reason, message } = readReadiness(item);
    if (isReady || isSuspended) return [];
    const name = `${kind}/${item.metadata.name}`;
    return [
      isStuck(item)
        ? stuckFinding(name, cluster)
        : failed(name, `${reason}: ${message}`, `kubectl describe ${name.toLowerCase()} -n ${cluster.namespace}`),
    ];
  });
  return wrong.length > 0 ? wrong : [ok("resources", `all ${all.length} are ready or switched off by their spec`)];
}

function isStuck({ metadata }: Resource): boolean {
  if (metadata.deletionTimestamp === undefined || metadata.finalizers?.includes(FINALIZER) !== true) return false;
  return Date.now() - Date.parse(metadata.deletionTimestamp) > STUCK_MS;
}

function stuckFinding(name: string, { namespace }: Cluster): Finding {
  const cure = `kubectl patch ${name.toLowerCase()} -n ${namespace} --type=merge -p '{"metadata":{"finalizers":null}}'`;
  return failed(name, "waits for a gateway to delete it for more than ten minutes", cure);
}
