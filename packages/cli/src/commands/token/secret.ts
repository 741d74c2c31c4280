import { calling, openCluster, request, send, readStatus, type Cluster } from "../kube/cluster.ts";
import { SELECTOR } from "../kube/command.ts";
import { CliError, EXIT } from "../../core/exit.ts";

/** The place where a key is written. */
export interface SecretPlace {
  readonly namespace: string;
  readonly name: string;
}

interface SecretOptions {
  readonly kubeContext?: string | undefined;
  /** Also replaces a Secret that others created. */
  readonly isReplaced: boolean;
}

/** A Secret that takes one key. */
interface KeySecret {
  /** Id of the token whose key the Secret has held so far. */
  readonly before: string | undefined;
  write(token: { readonly id: number; readonly name: string; readonly key: string }): Promise<void>;
}

type Texts = Readonly<Record<string, string>>;

interface StoredSecret {
  readonly metadata: { readonly resourceVersion?: string; readonly labels?: Texts; readonly annotations?: Texts };
}

/** Member of the Secret, as in resources of the kind Token. */
const MEMBER = "api-key";
const OWNER_LABEL = "app.kubernetes.io/managed-by";
const OWNER = "fairway-cli";
const ID = "fairway.dev/token-id";

/** Fails before a key is created if the Secret may not be read, or belongs to others. */
export async function openKeySecret(place: SecretPlace, options: SecretOptions): Promise<KeySecret> {
  const { namespace, name } = place;
  const { kubeContext, isReplaced } = options;
  const cluster = await openCluster({ namespace, selector: SELECTOR, ...(kubeContext && { kubeContext }) });
  const folder = `/api/v1/namespaces/${namespace}/secrets`;
  const found = await calling(cluster, () => read(cluster, `${folder}/${name}`));
  if (found && found.metadata.labels?.[OWNER_LABEL] !== OWNER && !isReplaced)
    throw new CliError(
      `the Secret ${namespace}/${name} was made by others and is left alone`,
      EXIT.conflict,
      `name another one, or add --replace-secret to write its ${MEMBER}; its other members stay`,
    );
  return {
    before: found?.metadata.annotations?.[ID],
    write: ({ id, name: tokenName, key }) =>
      calling(cluster, async () => {
        const metadata = {
          labels: { [OWNER_LABEL]: OWNER },
          annotations: { [ID]: String(id), "fairway.dev/token-name": tokenName },
        };
        const data = { [MEMBER]: Buffer.from(key).toString("base64") };
        if (found) {
          // The API server refuses this if someone changed the Secret meanwhile.
          const { resourceVersion } = found.metadata;
          const value = { metadata: { ...metadata, resourceVersion }, data };
          const body = { type: "application/merge-patch+json", value };
          return void (await send(cluster, { method: "PATCH", path: `${folder}/${name}`, body }));
        }
        const secret = { apiVersion: "v1", kind: "Secret", type: "Opaque", data };
        const value = { ...secret, metadata: { ...metadata, name, namespace } };
        await send(cluster, { method: "POST", path: folder, body: { type: "application/json", value } });
      }),
  };
}

async function read(cluster: Cluster, path: string): Promise<StoredSecret | undefined> {
  try {
    return await request<StoredSecret>(cluster, { path });
  } catch (thrown) {
    if (readStatus(thrown) === 404) return undefined;
    throw thrown;
  }
}
