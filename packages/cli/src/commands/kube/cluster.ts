import type { IncomingMessage } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import type { KubeConfig } from "@kubernetes/client-node";
import { CliError, EXIT } from "../../core/exit.ts";

export interface KubeOptions {
  readonly namespace?: string;
  readonly kubeContext?: string;
  readonly selector: string;
}

/** The cluster of the kubeconfig, with the one namespace that a command uses. */
export interface Cluster {
  readonly config: KubeConfig;
  readonly context: string;
  readonly server: string;
  readonly namespace: string;
  readonly selector: string;
}

export const FINALIZER = "fairway.dev/cleanup";
export const KINDS = { Channel: "channels", OptionSet: "optionsets", Token: "tokens", Budget: "budgets" } as const;
export type Kind = keyof typeof KINDS;

/** Loads the Kubernetes client, which takes 0.3 s, so only cluster commands do it. */
export async function openCluster({ namespace, kubeContext, selector }: KubeOptions): Promise<Cluster> {
  // The client's typed calls would load 17 MB of models; the configuration alone is a tenth of that.
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  try {
    config.loadFromDefault();
  } catch (cause) {
    throw new CliError(
      `the kubeconfig cannot be read: ${cause instanceof Error ? cause.message : ""}`,
      EXIT.usage,
      "check KUBECONFIG and ~/.kube/config",
    );
  }
  if (isFallback(config))
    throw new CliError("there is no kubeconfig", EXIT.usage, "set KUBECONFIG, or create ~/.kube/config");
  if (kubeContext !== undefined) {
    if (!config.getContextObject(kubeContext))
      throw new CliError(
        `the kubeconfig has no context ${kubeContext}`,
        EXIT.notFound,
        `it has ${formatContexts(config)}`,
      );
    config.setCurrentContext(kubeContext);
  }
  const context = config.getCurrentContext();
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new CliError("the kubeconfig names no current context", EXIT.usage, "give --kube-context");
  return {
    config,
    context,
    selector,
    server: cluster.server,
    namespace: namespace ?? config.getContextObject(context)?.namespace ?? "default",
  };
}

/** Without a kubeconfig the client falls back to an address that has no cluster. */
function isFallback(config: KubeConfig): boolean {
  return config.getCurrentCluster()?.server === "http://localhost:8080";
}

function formatContexts(config: KubeConfig): string {
  return config
    .getContexts()
    .map(({ name }) => name)
    .join(", ");
}

/** Runs calls to the API server and turns its refusals into failures with the matching exit code. */
export async function calling<T>({ server }: Pick<Cluster, "server">, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw toProblem(thrown, server);
  }
}

/** Field manager of what this program writes, which differs from the gateway's. */
const MANAGER = "fairway-cli";
const TOO_MANY_REQUESTS = 429;
const ATTEMPTS = 6;
const RETRY_MS = 500;

const EXIT_BY_STATUS: Readonly<Record<number, number>> = {
  401: EXIT.notSignedIn,
  403: EXIT.forbidden,
  404: EXIT.notFound,
  409: EXIT.conflict,
  429: EXIT.unreachable,
  503: EXIT.unreachable,
};

export function readStatus(thrown: unknown): number | undefined {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return typeof code === "number" ? code : undefined;
}

function toProblem(thrown: unknown, server: string): unknown {
  if (thrown instanceof CliError) return thrown;
  const status = readStatus(thrown);
  if (status !== undefined) {
    const said = readMessage(thrown) ?? `the API server answered ${status}`;
    return new CliError(
      said,
      EXIT_BY_STATUS[status] ?? EXIT.failure,
      status === 403 ? "choose --namespace, or a context with that right" : undefined,
    );
  }
  const isNetwork =
    thrown instanceof Error &&
    /fetch failed|ECONN|ENOTFOUND|timeout/i.test(`${thrown.message} ${String(thrown.cause)}`);
  return isNetwork
    ? new CliError(`the API server ${server} cannot be reached`, EXIT.unreachable, "check the context and the network")
    : thrown;
}

/** The client returns the body of a refusal as text. */
export function readMessage(thrown: unknown): string | undefined {
  const body = thrown instanceof Error && "body" in thrown ? thrown.body : undefined;
  const status: unknown = typeof body === "string" && body.startsWith("{") ? JSON.parse(body) : body;
  const message = typeof status === "object" && status !== null && "message" in status ? status.message : undefined;
  return typeof message === "string" ? message : undefined;
}

interface Call {
  readonly method?: "GET" | "PATCH" | "POST" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: { readonly type: string; readonly value: object };
}

/** Sends a call; a refusal is an Error with the status as `code` and the API server's answer as `body`. */
export async function send(
  { config, server }: Cluster,
  { method = "GET", path, query, body }: Call,
): Promise<IncomingMessage> {
  const options: RequestOptions = { method };
  await config.applyToHTTPSOptions(options);
  const headers = { ...(options.headers as object), ...(body && { "content-type": body.type }) };
  const url = new URL(server + path);
  // Without a name, the server writes the changes of an "unknown" manager into the object.
  if (body) url.searchParams.set("fieldManager", MANAGER);
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = httpsRequest(url, { ...options, headers }, resolve);
  sent.once("error", reject);
  sent.end(body && JSON.stringify(body.value));
  const answer = await promise;
  const code = answer.statusCode ?? 0;
  if (code < 300) return answer;
  throw Object.assign(new Error(`the API server answered ${code}`), { code, body: await text(answer) });
}

/** Returns the answer as JSON. The caller knows the type that the path returns. */
export async function request<T>(cluster: Cluster, call: Call): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return JSON.parse(await text(await send(cluster, call))) as T;
    } catch (thrown) {
      // The API server also answers this while it prepares the storage of new definitions.
      if (readStatus(thrown) !== TOO_MANY_REQUESTS || attempt === ATTEMPTS) throw thrown;
      await pause(RETRY_MS);
    }
  }
}

/** Returns objects of the namespace that have the labels of the installation. */
export async function labelled<T>(cluster: Cluster, api: string, plural: string): Promise<T[]> {
  const path = `${api}/namespaces/${cluster.namespace}/${plural}`;
  return (await request<{ readonly items: T[] }>(cluster, { path, query: { labelSelector: cluster.selector } })).items;
}

/** The parts of a custom resource that commands read. */
export interface Resource {
  readonly metadata: {
    readonly name: string;
    readonly generation?: number;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
  };
  readonly spec?: unknown;
  readonly status?: { readonly conditions?: readonly Condition[] };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
}

export function resourcePath({ namespace }: Pick<Cluster, "namespace">, kind: Kind): string {
  return `/apis/fairway.dev/v1alpha1/namespaces/${namespace}/${KINDS[kind]}`;
}

/** Undefined if the cluster does not know the kind. */
export async function listResources(cluster: Cluster, kind: Kind): Promise<Resource[] | undefined> {
  try {
    return (await request<{ readonly items: Resource[] }>(cluster, { path: resourcePath(cluster, kind) })).items;
  } catch (thrown) {
    if (readStatus(thrown) === 404) return undefined;
    throw thrown;
  }
}

/** The reason of a channel whose spec says `enabled: false`. */
const SUSPENDED = "Disabled";

/** A condition counts only if it is about the current generation of the resource. */
export function readReadiness({ metadata, status }: Resource): {
  readonly isReady: boolean;
  /** True if the resource asks to be off, which is no fault. */
  readonly isSuspended?: boolean;
  readonly reason: string;
  readonly message: string;
} {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (!ready) return { isReady: false, reason: "NotSeen", message: "No gateway has compared it yet." };
  if ((ready.observedGeneration ?? 0) < (metadata.generation ?? 0))
    return { isReady: false, reason: "Outdated", message: "It changed and was not compared again yet." };
  const { status: value, reason, message } = ready;
  return { isReady: value === "True", isSuspended: reason === SUSPENDED, reason, message };
}
