import {
  calling,
  KINDS,
  openCluster,
  readReadiness,
  request,
  resourcePath,
  listResources,
  type Kind,
  type KubeOptions,
  type Resource,
} from "./cluster.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { plain } from "../../print/columns.ts";
import { printDone, printList, type Output, type Shape } from "../../print/output.ts";

const RECONCILE_AT = "fairway.dev/reconcile-at";
/** Reasons of `Programmed` that people caused: their message says how to continue. */
const BY_HAND = new Set(["Overridden", "Paused"]);

interface Declared {
  readonly resource: string;
  readonly ready: string;
  readonly synced: string;
  readonly secrets: string;
  readonly drift: string;
  /** Spec fields that Git manages. The console manages the others. */
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

/** Shows what Git manages: each resource with its conditions, its differences, and manual overrides with their end. */
export async function showGitops(options: KubeOptions, output: Output): Promise<void> {
  const cluster = await openCluster(options);
  const kinds = Object.keys(KINDS) as Kind[];
  const lists = await calling(cluster, () =>
    Promise.all(kinds.map(async (kind) => ({ kind, items: await listResources(cluster, kind) }))),
  );
  if (lists.every(({ items }) => items === undefined))
    throw new CliError("the cluster does not know these kinds", EXIT.notFound, "fairway kube crds install");
  const rows = lists.flatMap(({ kind, items = [] }) => items.map((item) => toDeclared(kind, item)));
  await printList(output, {
    ...DECLARED,
    rows,
    empty: `No resources in ${cluster.namespace}: Git keeps nothing there.`,
  });
}

/** Triggers a comparison: a change of this annotation reaches the controller like any other change. */
export async function reconcileNow(text: string, options: KubeOptions, isDry: boolean, output: Output): Promise<void> {
  const place = parseResourceName(text);
  const cluster = await openCluster(options);
  const path = `${resourcePath(cluster, place.kind)}/${place.name}`;
  const value = { metadata: { annotations: { [RECONCILE_AT]: new Date().toISOString() } } };
  const resource = `${place.kind}/${place.name}`;
  if (isDry) return output.note(`PATCH ${path}\n${JSON.stringify(value)}\nNothing was changed: --dry-run.`);
  await calling(cluster, () =>
    request<Resource>(cluster, { method: "PATCH", path, body: { type: "application/merge-patch+json", value } }),
  );
  await printDone(output, { resource }, `${resource} is compared now; \`fairway kube gitops\` shows the result.`);
}

function parseResourceName(text: string): { readonly kind: Kind; readonly name: string } {
  const [, word = "", name = ""] = /^([a-z]+)\/([a-z0-9.-]+)$/i.exec(text) ?? [];
  const kinds = Object.entries(KINDS) as [Kind, string][];
  const found = kinds.find(([kind, plural]) => [kind.toLowerCase(), plural].includes(word.toLowerCase()));
  if (found && name !== "") return { kind: found[0], name };
  const known = kinds.map(([kind]) => kind.toLowerCase());
  throw new CliError(
    `there is no resource ${text}`,
    EXIT.usage,
    found || word === "" ? `give kind and name, such as ${known[0]}/main` : `the kinds are ${known.join(", ")}`,
  );
}

function toDeclared(kind: Kind, resource: Resource): Declared {
  const conditions = resource.status?.conditions ?? [];
  const findReason = (type: string) => conditions.find((one) => one.type === type)?.reason ?? "";
  const { isReady, reason, message } = readReadiness(resource);
  const synced = findReason("Programmed");
  const said = conditions.find(({ type, reason: why }) => type === "Programmed" && BY_HAND.has(why))?.message;
  return {
    resource: `${kind}/${resource.metadata.name}`,
    ready: isReady ? "yes" : resource.metadata.deletionTimestamp === undefined ? "no" : "leaving",
    synced: synced || reason,
    secrets: findReason("SecretsResolved"),
    drift: findReason("Drifted"),
    keeps: Object.keys((resource.spec ?? {}) as object).join(","),
    message: said ?? (isReady ? "" : message),
  };
}
