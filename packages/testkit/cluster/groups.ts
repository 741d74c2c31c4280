import { existsSync, globSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const CGROUPS = "/sys/fs/cgroup";
/**
 * Weight of the cluster compared with a session or program of the machine. Pods could otherwise starve on a busy
 * machine, whatever they request: a request only counts against other pods.
 */
const WEIGHT = 20;
/** Programs that are not pods: the test, the control plane, the nodes. */
const PROGRAMS = "programs";

const toGroupName = (folder: string) => basename(folder);
const isUnified = () => existsSync(join(CGROUPS, "cgroup.controllers"));
const cpuRoot = () => (isUnified() ? CGROUPS : join(CGROUPS, "cpu"));

/** Moves this process, and everything that it starts from now on, into a group next to those of the nodes. */
export function joinGroup(folder: string): void {
  const own = join(cpuRoot(), toGroupName(folder));
  mkdirSync(join(own, PROGRAMS), { recursive: true });
  if (isUnified()) {
    control(CGROUPS);
    control(own);
    writeFileSync(join(own, "cpu.weight"), String(100 * WEIGHT));
  } else writeFileSync(join(own, "cpu.shares"), String(1_024 * WEIGHT));
  writeFileSync(join(own, PROGRAMS, "cgroup.procs"), String(process.pid));
}

/** Creates the control group of a node's pods, in every hierarchy of version 1 or the one of version 2. */
export function makeGroups(folder: string, node: string): string {
  const own = toGroupName(folder);
  for (const root of isUnified() ? [CGROUPS] : globSync(`${CGROUPS}/*/`))
    mkdirSync(join(root, own, node), { recursive: true });
  return `/${own}/${node}`;
}

/** A group can be removed a moment after its last process has ended. */
export async function removeGroups(folder: string): Promise<void> {
  const own = toGroupName(folder);
  writeFileSync(join(cpuRoot(), "cgroup.procs"), String(process.pid));
  for (let attempt = 0; attempt < 50; attempt++) {
    const left = globSync([`${CGROUPS}/${own}/**/`, `${CGROUPS}/*/${own}/**/`]).toSorted((a, b) => b.length - a.length);
    if (left.length === 0) return;
    for (const group of left) {
      try {
        rmdirSync(group);
      } catch {
        continue; // still in use
      }
    }
    await sleep(100);
  }
}

function control(group: string): void {
  writeFileSync(join(group, "cgroup.subtree_control"), "+cpu +cpuset +memory +pids +io");
}
