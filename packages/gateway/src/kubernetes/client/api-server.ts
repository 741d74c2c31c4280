import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

const ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";
export const NAMESPACE_FILE = `${ACCOUNT_FOLDER}/namespace`;
/** A name that every cluster has, and that its certificate is for. */
const POD_SERVER = "https://kubernetes.default.svc";

/** Where an API server is, and how to sign in there. */
export interface ApiServer {
  readonly server: string;
  readonly namespace: string | undefined;
  /** Headers and the options of TLS; read again after a while, because tokens change on disk. */
  sign(): Promise<Signed>;
}

export interface Signed {
  readonly headers: Record<string, string>;
  readonly tls: Readonly<Record<string, unknown>>;
}

/** Without the Kubernetes client, which every pod would pay with 0.3 s and 60 MB. */
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

/** Undefined outside of a pod, and in a pod without the token of its service account. */
export function podNamespace(): string | undefined {
  try {
    return readFileSync(NAMESPACE_FILE, "utf8").trim();
  } catch {
    return undefined;
  }
}
