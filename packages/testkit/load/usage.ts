import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const TICK_MICROSECONDS = 10_000; // 100 ticks a second on Linux
const QUIET_MS = 500;
const QUIET_LIMIT_MS = 20_000;

/** Returns user and system time of a process with all its threads and children, in microseconds. */
export function readCpu(pid: number): number {
  return processTree(pid).reduce((sum, member) => sum + ownTicks(member), 0) * TICK_MICROSECONDS;
}

/** Returns resident and proportional memory in KiB, children included. */
export function readMemory(pid: number): { readonly residentKib: number; readonly proportionalKib: number } {
  let residentKib = 0;
  let proportionalKib = 0;
  for (const member of processTree(pid)) {
    const text = readProc(`/proc/${member}/smaps_rollup`);
    residentKib += Number(/^Rss:\s+(\d+)/m.exec(text)?.[1] ?? 0);
    proportionalKib += Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0);
  }
  return { residentKib, proportionalKib };
}

/** Returns the microseconds that the whole machine was busy since it started. */
export function machineBusy(): number {
  const fields = (readProc("/proc/stat").split("\n")[0] ?? "").trim().split(/\s+/).slice(1).map(Number);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = fields;
  return (user + nice + system + irq + softirq + steal) * TICK_MICROSECONDS;
}

/** Waits until none of the processes has used a tick for half a second: work after the answer counts too. */
export async function untilQuiet(pids: readonly number[]): Promise<void> {
  const limit = performance.now() + QUIET_LIMIT_MS;
  let before = pids.map(readCpu);
  while (performance.now() < limit) {
    await sleep(QUIET_MS);
    const now = pids.map(readCpu);
    if (now.every((value, index) => value - (before[index] ?? 0) <= TICK_MICROSECONDS)) return;
    before = now;
  }
}

function processTree(pid: number): number[] {
  return [pid, ...listChildren(pid).flatMap(processTree)];
}

function listChildren(pid: number): number[] {
  const threads = listProc(`/proc/${pid}/task`);
  const text = threads.map((thread) => readProc(`/proc/${pid}/task/${thread}/children`)).join(" ");
  return text.split(/\s+/).filter(Boolean).map(Number);
}

/** Reads fields 14 to 17 of the line: own time, and that of children that were waited for. */
function ownTicks(pid: number): number {
  const text = readProc(`/proc/${pid}/stat`);
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}

function readProc(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // the process ended meanwhile
  }
}

function listProc(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // the process ended meanwhile
  }
}
