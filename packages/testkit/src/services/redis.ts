import { type Certificates, certificatesIn, installCertificates } from "./certificates.ts";
import { findProgram, startServer, unprivileged, type Service } from "./process.ts";

export interface RedisSettings {
  /** Appends every write to a file before answering, as production does; off by default. */
  readonly isDurable?: boolean;
  /** Accepts only TLS connections. */
  readonly tls?: Certificates;
  /** A node of a Redis Cluster that serves no slot yet. */
  readonly isClusterNode?: boolean;
  /**
   * Settings of a cluster node: its port for other nodes, how long one may be silent before it counts as dead, its
   * name.
   */
  readonly cluster?: { readonly busPort: number; readonly nodeTimeoutMs: number; readonly hostname?: string };
  /** A user with all rights, in addition to the default user. */
  readonly user?: { readonly name: string; readonly password: string };
  /** The password for clients, and for the primary of a replica. */
  readonly password?: string;
  /** The port of the primary that it follows. */
  readonly primaryPort?: number;
}

export function startRedis(settings: RedisSettings = {}): Promise<Service> {
  const account = unprivileged("redis");
  const { tls, password, primaryPort, cluster, user } = settings;
  return startServer({
    name: "redis",
    command: findProgram("redis-server", "redis-server"),
    account,
    ...(tls && { prepare: async (folder: string) => void (await installCertificates(tls, folder, account)) }),
    args: (folder, port) => [
      ...(tls ? tlsArgs(folder, port) : ["--port", String(port)]),
      ...(password === undefined ? [] : ["--requirepass", password, "--masterauth", password]),
      ...(primaryPort === undefined
        ? []
        : ["--replicaof", "127.0.0.1", String(primaryPort), "--repl-diskless-sync-delay", "0"]),
      ...(settings.isClusterNode || cluster ? ["--cluster-enabled", "yes"] : []),
      ...(cluster ? clusterArgs(cluster, tls !== undefined) : []),
      ...(user ? ["--user", user.name, "on", `>${user.password}`, "~*", "&*", "+@all"] : []),
      "--bind",
      "127.0.0.1",
      "--dir",
      folder,
      "--save",
      "",
      "--appendonly",
      settings.isDurable ? "yes" : "no",
      "--daemonize",
      "no",
    ],
    ready: "Ready to accept connections",
    url: (port) => `${tls ? "rediss" : "redis"}://${password ? `:${password}@` : ""}127.0.0.1:${port}/0`,
    stopSignal: "SIGKILL",
  });
}

/** Slots without a primary do not stop the other slots, and a replica may always take over. */
function clusterArgs({ busPort, nodeTimeoutMs, hostname }: NonNullable<RedisSettings["cluster"]>, isTls: boolean) {
  const values = {
    "cluster-port": String(busPort),
    "cluster-node-timeout": String(nodeTimeoutMs),
    "cluster-require-full-coverage": "no",
    "cluster-replica-validity-factor": "0",
    "cluster-allow-replica-migration": "no",
    "repl-diskless-sync-delay": "0",
    ...(hostname && { "cluster-announce-hostname": hostname, "cluster-preferred-endpoint-type": "hostname" }),
    ...(isTls && { "tls-cluster": "yes", "tls-replication": "yes" }),
  };
  return Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);
}

function tlsArgs(folder: string, port: number): readonly string[] {
  const { ca, cert, key } = certificatesIn(folder);
  const files = ["--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", ca];
  return ["--port", "0", "--tls-port", String(port), ...files, "--tls-auth-clients", "no"];
}
