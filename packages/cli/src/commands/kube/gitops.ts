import {
  calling,
  KINDS,
  openCluster,
  readinessOf,
  resourcesOf,
  type Kind,
  type KubeOptions,
  type Resource,
} from "./cluster.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { plain } from "../../print/columns.ts";
import { printList, type Output, type Shape } from "../../print/output.ts";

interface Declared {
  readonly resource: string;
  readonly ready: string;
  readonly synced: string;
  readonly secrets: string;
  readonly drift: string;
  /** Fields of the spec: what Git keeps. The others stay with the console. */
  readonly keeps: string;
  readonly message: string;
}

const DECLARED: Shape<Declared> = {
  kind: "Resource",
  columns: [
    plain("RESOURCE", "resource"),
    plain("READY", "ready"),
    plain("SYNCED", "synced"),
    plain("SECRETS", "secrets"),
    plain("DRIFT", "drift"),
    plain("KEEPS", "keeps"),
    plain("MESSAGE", "message"),
  ],
  name: ({ resource }) => resource.toLowerCase(),
};

/** What Git keeps: each resource with its conditions, what differs, and what is overridden by hand until when. */
export async function showGitops(options: KubeOptions, output: Output): Promise<void> {
  const cluster = await openCluster(options);
  const kinds = Object.keys(KINDS) as Kind[];
  const lists = await calling(cluster, () =>
    Promise.all(kinds.map(async (kind) => ({ kind, items: await resourcesOf(cluster, kind) }))),
  );
  if (lists.every(({ items }) => items === undefined))
    throw new CliError("the cluster does not know these kinds", EXIT.notFound, "fairway kube crds install");
  const rows = lists.flatMap(({ kind, items = [] }) => items.map((item) => declaredOf(kind, item)));
  await printList(output, {
    ...DECLARED,
    rows,
    empty: `No resources in ${cluster.namespace}: Git keeps nothing there.`,
  });
}

function declaredOf(kind: Kind, resource: Resource): Declared {
  const conditions = resource.status?.conditions ?? [];
  const reasonOf = (type: string) => conditions.find((one) => one.type === type)?.reason ?? "";
  const { isReady, reason, message } = readinessOf(resource);
  const synced = reasonOf("Synced");
  const said = conditions.find(({ type, reason: why }) => type === "Synced" && why === "Overridden")?.message;
  return {
    resource: `${kind}/${resource.metadata.name}`,
    ready: isReady ? "yes" : resource.metadata.deletionTimestamp === undefined ? "no" : "leaving",
    synced: synced || reason,
    secrets: reasonOf("SecretsResolved"),
    drift: reasonOf("Drifted"),
    keeps: Object.keys((resource.spec ?? {}) as object).join(","),
    message: said ?? (isReady ? "" : message),
  };
}
