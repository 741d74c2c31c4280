import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Authority } from "./authority.ts";
import { makeGroups } from "./groups.ts";
import type { ProcessHost } from "./process-host.ts";
import { PAUSE_IMAGE } from "./programs.ts";

/** Address of the control plane; the n-th node is 172.31.0.(10 + n), its pods are in 10.244.n.0/24. */
export const CONTROL_PLANE = "172.31.0.1";

export interface Node {
  readonly name: string;
  readonly host: ProcessHost;
  readonly socket: string;
}

export interface NodeSettings {
  readonly cluster: ProcessHost;
  readonly programs: string;
  readonly authority: Authority;
  readonly count: number;
}

const buildAddress = (index: number) => `172.31.0.${10 + index}`;

/** Creates the bridge that connects the nodes, inside the namespaces of the cluster. */
export async function createNetwork(cluster: ProcessHost): Promise<void> {
  await cluster.run(
    "sh",
    "-ec",
    `ip link set lo up
     ip link add br0 type bridge
     ip addr add ${CONTROL_PLANE}/24 dev br0
     ip link set br0 up
     ip route add default dev br0
     sysctl -qw net.ipv4.ip_forward=1`,
  );
}

/** Starts containerd, kubelet and kube-proxy of node `index`, which counts from 1. */
export async function startNode(settings: NodeSettings, index: number): Promise<Node> {
  const { cluster, programs, authority, count } = settings;
  const name = `n${index}`;
  const folder = authority.file(name);
  const group = makeGroups(authority.folder, name);
  const { host, pid } = await cluster.nest(folder);
  await cluster.run(
    "sh",
    "-ec",
    `ip link add v${index} type veth peer name eth0 netns ${pid}
     ip link set v${index} master br0 up
     ip route add 10.244.${index}.0/24 via ${buildAddress(index)}`,
  );
  const others = Array.from({ length: count }, (_, at) => at + 1).filter((other) => other !== index);
  const routes = others.map((other) => `10.244.${other}.0/24 ${buildAddress(other)}`);
  await host.run("sh", "-e", join(import.meta.dirname, "node.sh"), folder, buildAddress(index), ...routes);

  const socket = join(folder, "run", "containerd.sock");
  writeFileSync(join(folder, "containerd.toml"), containerdConfig(folder, socket));
  writeFileSync(join(folder, "cni", "10-pods.conflist"), JSON.stringify(networkConfig(folder, index)));
  host.start("containerd", "containerd", ["-c", join(folder, "containerd.toml")]);
  const node = { name, host, socket };
  await host.until(60, "containerd", async () => {
    await host.run("ctr", "-a", socket, "version");
    return true;
  });
  await importImage(node, join(programs, "pause.tar"));
  startAgents(settings, { node, folder, group, address: buildAddress(index) });
  return node;
}

export async function importImage({ host, socket }: Node, archive: string): Promise<void> {
  await host.run("ctr", "-a", socket, "-n", "k8s.io", "images", "import", archive);
}

export async function tagImage({ host, socket }: Node, image: string, name: string): Promise<void> {
  await host.run("ctr", "-a", socket, "-n", "k8s.io", "images", "tag", "--force", image, name);
}

/** Resets every connection to the API server, also those from this machine, which its relay makes. */
export async function blockApiServer(cluster: ProcessHost, isAway: boolean): Promise<void> {
  const rule = ["INPUT", "-p", "tcp", "--dport", "6443", "-j", "REJECT", "--reject-with", "tcp-reset"];
  await cluster.run("iptables", "-w", isAway ? "-I" : "-D", ...rule);
}

export async function killTask({ host, socket }: Node, container: string): Promise<void> {
  await host.run("ctr", "-a", socket, "-n", "k8s.io", "task", "kill", "-s", "SIGKILL", container);
}

interface Agents {
  readonly node: Node;
  readonly folder: string;
  readonly group: string;
  readonly address: string;
}

function startAgents({ programs, authority }: NodeSettings, { node, folder, group, address }: Agents): void {
  const { name, host, socket } = node;
  const server = `${CONTROL_PLANE}:6443`;
  const own = authority.kubeconfig(`${name}/kubelet.kubeconfig`, name, server);
  const admin = authority.kubeconfig(`${name}/proxy.kubeconfig`, "admin", server);
  const config = kubeletConfig({ folder, group, socket, authority: authority.file("ca.crt") });
  writeFileSync(join(folder, "kubelet.json"), JSON.stringify(config));
  host.start("kubelet", join(programs, "kubelet"), [
    `--config=${join(folder, "kubelet.json")}`,
    `--kubeconfig=${own}`,
    `--hostname-override=${name}`,
    `--node-ip=${address}`,
    `--root-dir=${join(folder, "kubelet")}`,
    `--cert-dir=${join(folder, "kubelet-pki")}`,
  ]);
  startProxy(host, { programs, kubeconfig: admin, node: name, address, folder });
}

export interface ProxySettings {
  readonly programs: string;
  readonly kubeconfig: string;
  readonly node: string;
  readonly address: string;
  readonly folder: string;
}

/** Starts kube-proxy on the host, so that Services work there. */
export function startProxy(host: ProcessHost, { programs, kubeconfig, node, address, folder }: ProxySettings): void {
  const config = {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    mode: "nftables",
    clientConnection: { kubeconfig },
    hostnameOverride: node,
    nodePortAddresses: [`${address}/32`],
    bindAddress: address,
    healthzBindAddress: "127.0.0.1:10256",
    metricsBindAddress: "127.0.0.1:10249",
    clusterCIDR: "10.244.0.0/16",
    oomScoreAdj: 0,
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
  };
  const file = join(folder, "kube-proxy.json");
  writeFileSync(file, JSON.stringify(config));
  host.start("kube-proxy", join(programs, "kube-proxy"), [`--config=${file}`]);
}

function kubeletConfig(paths: Readonly<Record<"folder" | "group" | "socket" | "authority", string>>) {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: paths.authority },
    },
    authorization: { mode: "Webhook" },
    containerRuntimeEndpoint: `unix://${paths.socket}`,
    cgroupDriver: "cgroupfs",
    cgroupRoot: paths.group,
    failCgroupV1: false,
    failSwapOn: false,
    oomScoreAdj: 0,
    resolvConf: join(paths.folder, "resolv.conf"),
    clusterDNS: [CONTROL_PLANE],
    clusterDomain: "cluster.local",
    evictionHard: { "memory.available": "100Mi" },
    imageGCHighThresholdPercent: 100,
    podLogsDir: join(paths.folder, "pod-logs"),
    volumePluginDir: join(paths.folder, "volume-plugins"),
  };
}

function containerdConfig(folder: string, socket: string): string {
  const cri = "plugins.'io.containerd.grpc.v1.cri'";
  return `version = 2
root = '${folder}/containerd'
state = '${folder}/run/containerd'
oom_score = 0
[grpc]
address = '${socket}'
[${cri}]
sandbox_image = '${PAUSE_IMAGE}'
restrict_oom_score_adj = true
disable_apparmor = true
tolerate_missing_hugetlb_controller = true
disable_hugetlb_controller = true
[${cri}.cni]
bin_dir = '/usr/lib/cni'
conf_dir = '${folder}/cni'
[${cri}.containerd.runtimes.runc]
runtime_type = 'io.containerd.runc.v2'
`;
}

function networkConfig(folder: string, index: number) {
  const ipam = {
    type: "host-local",
    dataDir: join(folder, "addresses"),
    ranges: [[{ subnet: `10.244.${index}.0/24` }]],
    routes: [{ dst: "0.0.0.0/0" }],
  };
  const bridge = { type: "bridge", bridge: "cni0", isGateway: true, ipMasq: false, hairpinMode: true, ipam };
  return { cniVersion: "1.0.0", name: "pods", plugins: [bridge] };
}
