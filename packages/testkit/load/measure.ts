import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Job, Result } from "./generator.ts";
import type { System } from "./systems.ts";
import { readCpu, machineBusy, readMemory, untilQuiet } from "./usage.ts";

/** Microseconds of CPU per good answer. */
export interface Cpu {
  readonly gateway: number;
  readonly database: number;
  readonly redis: number;
}

export interface CpuRun {
  readonly cpu: Cpu;
  readonly result: Result;
  /** Cores that other processes used meanwhile, which shows a noisy run. */
  readonly othersCores: number;
}

export interface Memory {
  readonly idleMib: number;
  readonly openMib: number;
  readonly kibPerStream: number;
  readonly result: Result;
}

/** Sends a job to the load generator and waits for its result. */
export function ask(generator: ChildProcess, job: Job): Promise<Result> {
  return new Promise((resolve, reject) => {
    generator.once("message", (message) => resolve(message as Result));
    generator.send(job, (error) => {
      if (error) reject(error);
    });
  });
}

/** Measures CPU from before the first request until everything is quiet again, divided by the good answers. */
export async function measureCpu(
  system: System,
  others: readonly ChildProcess[],
  run: () => Promise<Result>,
): Promise<CpuRun> {
  const ours = listPids(system);
  const bystanders = [process.pid, ...others.map((child) => child.pid ?? 0)];
  await untilQuiet(ours);
  const before = {
    machine: machineBusy(),
    ours: ours.map(readCpu),
    bystanders: bystanders.map(readCpu),
    at: performance.now(),
  };
  const result = await run();
  await untilQuiet(ours);
  const used = ours.map((pid, index) => readCpu(pid) - (before.ours[index] ?? 0));
  const bystanderCpu = bystanders.map((pid, index) => readCpu(pid) - (before.bystanders[index] ?? 0));
  const rest = machineBusy() - before.machine - sum(used) - sum(bystanderCpu);
  const [gateway = 0, database = 0, redis = 0] = used.map((value) => value / Math.max(1, result.good));
  const microseconds = (performance.now() - before.at) * 1000;
  return {
    cpu: { gateway, ...nameCpuTimes(system, database, redis) },
    result,
    othersCores: Math.max(0, rest / microseconds),
  };
}

/** Measures the gateway's memory at rest and with many open streams; growth is based on the proportional share. */
export async function measureMemory(system: System, streams: number, run: () => Promise<Result>): Promise<Memory> {
  await untilQuiet([system.gatewayPid]);
  const idle = readMemory(system.gatewayPid);
  const running = run();
  let most = idle;
  let isOver = false;
  void running.finally(() => (isOver = true));
  while (!isOver) {
    const now = readMemory(system.gatewayPid);
    if (now.proportionalKib > most.proportionalKib) most = now;
    await sleep(200);
  }
  return {
    idleMib: idle.residentKib / 1024,
    openMib: most.residentKib / 1024,
    kibPerStream: (most.proportionalKib - idle.proportionalKib) / streams,
    result: await running,
  };
}

function listPids(system: System): number[] {
  return [system.gatewayPid, system.databasePid ?? 0, system.redisPid ?? 0].filter((pid) => pid > 0);
}

function nameCpuTimes(system: System, second: number, third: number): Omit<Cpu, "gateway"> {
  return { database: system.databasePid ? second : 0, redis: system.redisPid ? third : 0 };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
