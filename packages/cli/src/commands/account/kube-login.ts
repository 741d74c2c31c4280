import type { V1Deployment } from "@kubernetes/client-node";
import {
  calling,
  labelled,
  openCluster,
  request,
  readStatus,
  type Cluster,
  type KubeOptions,
} from "../kube/cluster.ts";
import { openForward } from "../kube/forward.ts";
import { resolveServerAddress, signInAt, type LoginOptions, type SignInPlace } from "./login.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import type { Output } from "../../print/output.ts";

export type KubeLoginOptions = LoginOptions & KubeOptions;

type Environment = NonNullable<NonNullable<V1Deployment["spec"]>["template"]["spec"]>["containers"][number]["env"];

const ROOT = "root";
/** The default address of `fairway kube port-forward`. */
const FORWARDED = "http://127.0.0.1:3000";

/**
 * Signs in through a pod, so that no route into the cluster is needed. Later commands call `server`; without it they
 * call the public address of the installation, or that of `fairway kube port-forward`.
 */
export async function runKubeLogin(
  server: string | undefined,
  options: KubeLoginOptions,
  output: Output,
  place: SignInPlace,
): Promise<void> {
  const cluster = await openCluster(options);
  const env = await calling(cluster, () => loadEnvironment(cluster));
  const publicUrl = env?.find(({ name }) => name === "FAIRWAY_PUBLIC_URL")?.value;
  const address = resolveServerAddress(server ?? publicUrl ?? FORWARDED, options);
  const { username, password } = await calling(cluster, () => resolveAccount(cluster, env, options));
  const note = (text: string) => output.note(text);
  const forward = await calling(cluster, () => openForward(cluster, { local: 0, port: "http", note }));
  try {
    const through = `http://127.0.0.1:${forward.local}`;
    await signInAt(
      { address: through, stored: address },
      { ...options, ...(username && { username }), password },
      output,
      place,
    );
  } finally {
    forward.close();
  }
  if (address === FORWARDED)
    output.note(
      `Commands need \`fairway kube port-forward -n ${cluster.namespace}\`: the chart has no server.publicUrl.`,
    );
}

async function loadEnvironment(cluster: Cluster): Promise<Environment> {
  const [deployment] = await labelled<V1Deployment>(cluster, "/apis/apps/v1", "deployments");
  if (!deployment)
    throw new CliError(
      `no deployment with ${cluster.selector} in ${cluster.namespace}`,
      EXIT.notFound,
      "choose -n, --kube-context or --selector",
    );
  return deployment.spec?.template.spec?.containers[0]?.env;
}

/** Returns root with the password of the first start, if the Secret can be read and no account was chosen. */
async function resolveAccount(
  cluster: Cluster,
  env: Environment,
  { username, tokenStdin, passwordStdin }: LoginOptions,
) {
  if (tokenStdin || passwordStdin || (username !== undefined && username !== ROOT)) return { username };
  const password = await firstPassword(cluster, env);
  return password === undefined ? { username } : { username: ROOT, password };
}

async function firstPassword(cluster: Cluster, env: Environment): Promise<string | undefined> {
  const name = env?.find((one) => one.name === "FAIRWAY_SESSION_SECRET")?.valueFrom?.secretKeyRef?.name;
  if (name === undefined) return undefined;
  try {
    const path = `/api/v1/namespaces/${cluster.namespace}/secrets/${name}`;
    const { data = {} } = await request<{ readonly data?: Readonly<Record<string, string>> }>(cluster, { path });
    const stored = data["root-password"];
    return stored === undefined ? undefined : Buffer.from(stored, "base64").toString();
  } catch (thrown) {
    const status = readStatus(thrown);
    if (status === 403 || status === 404) return undefined;
    throw thrown;
  }
}
