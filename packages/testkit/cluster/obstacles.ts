import { execFileSync } from "node:child_process";
import { findProgram } from "../src/services/process.ts";
import { hasPrograms, type Part } from "./programs.ts";

const PLUGINS = "/usr/lib/cni";
/** Programs of a real node, with the Debian package of each. `bridge` would find a program of iproute2 instead. */
const PROGRAMS = [
  ["containerd", "containerd"],
  ["runc", "runc"],
  ["nft", "nftables"],
  ["conntrack", "conntrack"],
  ["iptables", "iptables"],
  ["host-local", "containernetworking-plugins"],
] as const;

/**
 * Returns why no cluster can start here, as one line; undefined = it can. `mayCompile` allows the first build, which
 * takes 10 to 20 minutes.
 */
export function whyNoCluster(part: Part, mayCompile: boolean): string | undefined {
  if (process.platform !== "linux") return "a Kubernetes of our own needs Linux; set KUBECONFIG";
  if (hasPrograms(part)) return undefined;
  if (!hasGo()) return "no Go to compile the programs with: install Go 1.26, or set KUBECONFIG";
  if (mayCompile) return undefined;
  return "Kubernetes is not compiled yet, which takes 10 to 20 minutes: run `npm run test:cluster` once, or set FAIRWAY_TEST_CLUSTER=1 or KUBECONFIG";
}

/** Returns why no real node can start here. */
export function whyNoNodes(): string | undefined {
  if (process.getuid?.() !== 0) return "real nodes need root";
  try {
    for (const [name, debianPackage] of PROGRAMS) findProgram(name, debianPackage, [PLUGINS]);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function hasGo(): boolean {
  try {
    execFileSync("go", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
