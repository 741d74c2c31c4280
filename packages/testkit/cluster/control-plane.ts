import { join } from "node:path";
import type { Authority } from "./authority.ts";
import type { ProcessHost } from "./process-host.ts";

export interface ControlPlane {
  readonly host: ProcessHost;
  readonly programs: string;
  readonly authority: Authority;
  /** Port of the API server. */
  readonly port: number;
  readonly etcdPorts: readonly [number, number];
  /** Address at which pods reach the API server; undefined = no pods. */
  readonly advertised: string | undefined;
}

export const API_SERVER = "kube-apiserver";

/** Starts etcd, API server, controller-manager and scheduler, and waits until they serve; returns the kubeconfig. */
export async function startControlPlane(settings: ControlPlane): Promise<string> {
  const { host, programs, authority, port } = settings;
  await authority.create();
  const kubeconfig = authority.kubeconfig("admin.kubeconfig", "admin", `127.0.0.1:${port}`);
  const kubectl = (...args: string[]) => host.run(join(programs, "kubectl"), "--kubeconfig", kubeconfig, ...args);

  host.start("etcd", join(programs, "etcd"), etcdFlags(settings));
  host.start(API_SERVER, join(programs, API_SERVER), apiServerFlags(settings));
  await host.until(120, API_SERVER, async () => (await kubectl("get", "--raw", "/readyz")) === "ok");

  const access = ["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"];
  const common = [
    ...access.map((flag) => `--${flag}=${kubeconfig}`),
    "--bind-address=127.0.0.1",
    "--secure-port=0",
    "--leader-elect=false",
  ];
  host.start("kube-controller-manager", join(programs, "kube-controller-manager"), [
    ...common,
    "--use-service-account-credentials",
    `--service-account-private-key-file=${authority.file("service-accounts.key")}`,
    `--root-ca-file=${authority.file("ca.crt")}`,
  ]);
  host.start("kube-scheduler", join(programs, "kube-scheduler"), common);
  await host.until(60, "kube-controller-manager", async () => {
    await kubectl("get", "serviceaccount", "default");
    return true;
  });
  return kubeconfig;
}

function etcdFlags({ authority, etcdPorts }: ControlPlane): string[] {
  const [client, peer] = etcdPorts.map((port) => `http://127.0.0.1:${port}`);
  return [
    `--data-dir=${authority.file("etcd")}`,
    "--unsafe-no-fsync",
    "--log-level=warn",
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
  ];
}

function apiServerFlags({ authority, etcdPorts, port, advertised }: ControlPlane): string[] {
  const file = (name: string) => authority.file(name);
  return [
    `--etcd-servers=http://127.0.0.1:${etcdPorts[0]}`,
    `--bind-address=${advertised ? "0.0.0.0" : "127.0.0.1"}`,
    `--advertise-address=${advertised ?? "127.0.0.1"}`,
    `--endpoint-reconciler-type=${advertised ? "lease" : "none"}`,
    `--secure-port=${port}`,
    `--tls-cert-file=${file("apiserver.crt")}`,
    `--tls-private-key-file=${file("apiserver.key")}`,
    `--client-ca-file=${file("ca.crt")}`,
    `--token-auth-file=${file("tokens.csv")}`,
    "--anonymous-auth=false",
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    // Uses both IP families if nothing has to be reachable.
    `--service-cluster-ip-range=10.96.0.0/16${advertised ? "" : ",fd00:96::/112"}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${file("service-accounts.key")}`,
    `--service-account-signing-key-file=${file("service-accounts.key")}`,
    `--kubelet-client-certificate=${file("kubelet-client.crt")}`,
    `--kubelet-client-key=${file("kubelet-client.key")}`,
    "--kubelet-preferred-address-types=InternalIP",
    `--requestheader-client-ca-file=${file("ca.crt")}`,
    "--requestheader-allowed-names=front-proxy",
    "--requestheader-username-headers=X-Remote-User",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    `--proxy-client-cert-file=${file("front-proxy.crt")}`,
    `--proxy-client-key-file=${file("front-proxy.key")}`,
  ];
}
