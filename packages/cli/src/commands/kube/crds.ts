import { isDeepStrictEqual } from "node:util";
import { calling, openCluster, request, send, readStatus, type Cluster, type KubeOptions } from "./cluster.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { plain } from "../../print/columns.ts";
import { printList, type Output, type Shape } from "../../print/output.ts";

interface KindState {
  readonly name: string;
  readonly state: "same" | "other" | "missing";
}

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly versions: readonly object[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const STATES: Shape<KindState> = {
  kind: "Definition",
  columns: [plain("DEFINITION", "name"), plain("STATE", "state")],
  name: ({ name }) => `customresourcedefinition/${name}`,
};

const PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WAIT_MS = 200;
const TRIES = 50;

async function definitions(): Promise<readonly Definition[]> {
  return (await import("./crds.json", { with: { type: "json" } })).default;
}

/** Shows whether the cluster has the definitions of this version; exit 1 if it does not. */
export async function showKinds(options: KubeOptions, output: Output): Promise<void> {
  const cluster = await openCluster(options);
  const rows = await calling(cluster, () => kindStates(cluster));
  await printList(output, { ...STATES, rows, empty: "" });
  if (rows.every(({ state }) => state === "same")) return;
  output.note("`fairway kube crds install` brings them to this version.");
  process.exitCode = EXIT.failure;
}

export async function kindStates(cluster: Cluster): Promise<KindState[]> {
  return Promise.all(
    (await definitions()).map(async ({ metadata: { name }, spec }): Promise<KindState> => {
      const found = await find(cluster, name);
      if (!found) return { name, state: "missing" };
      return { name, state: isCovered(spec.versions, found.spec.versions) ? "same" : "other" };
    }),
  );
}

async function find(cluster: Cluster, name: string): Promise<Definition | undefined> {
  try {
    return await request<Definition>(cluster, { path: `${PATH}/${name}` });
  } catch (thrown) {
    if (readStatus(thrown) === 404) return undefined;
    throw thrown;
  }
}

/** Returns true if `found` contains everything in `wanted`; the server adds defaults of its own. */
function isCovered(wanted: unknown, found: unknown): boolean {
  if (Array.isArray(wanted)) {
    const isSameLength = Array.isArray(found) && wanted.length === found.length;
    return isSameLength && wanted.every((one, at) => isCovered(one, found[at]));
  }
  if (typeof wanted !== "object" || wanted === null) return isDeepStrictEqual(wanted, found);
  if (typeof found !== "object" || found === null) return false;
  return Object.entries(wanted).every(([name, value]) => isCovered(value, (found as Record<string, unknown>)[name]));
}

/** With `isDry` the API server only checks the definitions. */
export async function installKinds(options: KubeOptions, isDry: boolean, output: Output): Promise<void> {
  const cluster = await openCluster(options);
  await calling(cluster, () => applyKinds(cluster, isDry));
  output.note(
    isDry
      ? `${cluster.context} takes the definitions. Nothing was changed: --dry-run.`
      : `The definitions are in ${cluster.context}.`,
  );
}

/** Uses server-side apply, so that what others added to a definition stays. */
export async function applyKinds(cluster: Cluster, isDry = false): Promise<void> {
  for (const value of await definitions()) {
    const query = { force: "true", ...(isDry && { dryRun: "All" }) };
    const body = { type: "application/apply-patch+yaml", value };
    await send(cluster, { method: "PATCH", path: `${PATH}/${value.metadata.name}`, query, body });
  }
  if (isDry) return;
  for (const { metadata } of await definitions()) await waitForKind(cluster, metadata.name);
}

async function waitForKind(cluster: Cluster, name: string): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { conditions = [] } = (await find(cluster, name))?.status ?? {};
    if (conditions.some((one) => one.type === "Established" && one.status === "True")) return;
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
  throw new CliError(
    `the API server does not serve ${name} yet`,
    EXIT.failure,
    `kubectl describe crd ${name} says why`,
  );
}
