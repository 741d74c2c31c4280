import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

const ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";
export const NAMESPACE_FILE = `${ACCOUNT_FOLDER}/namespace`;
/** A name that every cluster has and its certificate covers. */
const POD_SERVER = "https://kubernetes.default.svc";

/** The address of an API server and its authentication. */
export interface ApiServer {
  readonly server: string;
  readonly namespace: string | undefined;
  /** Returns headers and TLS options, which are read again periodically, because tokens change on disk. */
  sign(): Promise<Signed>;
}

export interface Signed {
  readonly headers: Record<string, string>;
  readonly tls: Readonly<Record<string, unknown>>;
}

/**
 * Returns the API server of the pod without loading the Kubernetes client, which would cost every pod 0.3 s and 60 MB.
 */
export function podApiServer(): ApiServer {
  const read = (name: string) => readFile(`${ACCOUNT_FOLDER}/${name}`, "utf8");
  return {
    server: POD_SERVER,
    namespace: podNamespace(),
    async sign() {
      const [token, ca] = await Promise.all([read("token"), read("ca.crt")]);
      return { headers: { authorization: `Bearer ${token.trim()}` }, tls: { ca } };
    },
  };
}

/** Returns the namespace of the pod; undefined outside of a pod, and in a pod without a service account token. */
export function podNamespace(): string | undefined {
  try {
    return readFileSync(NAMESPACE_FILE, "utf8").trim();
  } catch {
    return undefined;
  }
}
