import { mkdtemp, rm } from "node:fs/promises";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startGateway, type GatewayProcess } from "../src/gateway.ts";

const PROBE_EVERY_MS = 250;
const PROBE_TIMEOUT_MS = 1_000;
/** Time between leaving the rotation and the signal: the pause of a preStop hook. */
const PRE_STOP_MS = 500;
const EXIT_LIMIT_MS = 60_000;
const CLOCK = join(import.meta.dirname, "jumping-clock.ts");

interface Replica {
  readonly name: string;
  readonly process: GatewayProcess;
}

interface Slot {
  /** The volume of a pod: it survives a process that dies, but not an orderly replacement. */
  disk: string;
  serial: number;
  process: GatewayProcess;
  isReady: boolean;
  isWithdrawn: boolean;
}

export interface Replicas {
  /** Returns the replicas in rotation, according to a readiness probe. */
  ready(): readonly Replica[];
  /** Every process that was started, including dead ones. */
  readonly all: readonly Replica[];
  /** Processes that ended unexpectedly. */
  readonly deaths: readonly string[];
  crash(index: number): Promise<void>;
  /** Ends a replica in order; returns its exit code. */
  end(index: number): Promise<number | string>;
  freeze(index: number): void;
  resume(index: number): void;
  /**
   * Moves the wall clock of a replica: first a minute ahead, then a minute back, then to the right time, one step per
   * call.
   */
  jump(index: number): void;
  /** Restarts a dead replica: a new process on the disk of the old one, as in the same pod. */
  replace(index: number): Promise<void>;
  /**
   * Takes a replica out of rotation, ends it in order and starts another on a disk of its own. Throws unless it ended
   * with 0.
   */
  roll(index: number): Promise<void>;
  readonly count: number;
  stop(): Promise<void>;
}

interface Addresses {
  readonly database: string;
  /** Undefined = the replica has no Redis. */
  readonly redis: string | undefined;
}

export interface ReplicaSettings {
  /** Returns the addresses that a replica uses, by its index. */
  readonly address: (index: number) => Addresses;
  readonly count: number;
  /** Further variables of each replica. */
  readonly env?: Readonly<Record<string, string>>;
  /** Returns an empty folder; default: a temporary one. */
  readonly newDisk?: () => Promise<string>;
  /** A program to use instead of the sources, such as a built one. */
  readonly program: string | undefined;
}

/** Starts real processes behind a rotation that follows their readiness, like the endpoints of a Service. */
export async function startReplicas(settings: ReplicaSettings): Promise<Replicas> {
  const { count, program } = settings;
  const all: Replica[] = [];
  const deaths: string[] = [];
  const asked = new Set<GatewayProcess>();
  const disks: string[] = [];
  const newDisk = async () => {
    if (settings.newDisk) return settings.newDisk();
    const disk = await mkdtemp(join(tmpdir(), "fairway-disk-"));
    disks.push(disk);
    return disk;
  };
  const start = async (index: number, serial: number, disk: string) => {
    const name = `replica-${index}-${serial}`;
    const { database, redis } = settings.address(index);
    const env = { ...settings.env, FAIRWAY_INSTANCE_ID: name, FAIRWAY_LIMIT_WEB: "off", FAIRWAY_DATA_DIR: disk };
    const process = await startGateway({
      database,
      ...(redis !== undefined && { redis }),
      env,
      nodeArgs: ["--import", CLOCK],
      ...(program ? { program } : {}),
    });
    all.push({ name, process });
    void process.exited.then((code) => !asked.has(process) && deaths.push(`${name} ended with ${code}`));
    return process;
  };
  const slots: Slot[] = [];
  for (let index = 0; index < count; index++) {
    const disk = await newDisk();
    slots.push({ disk, serial: 0, process: await start(index, 0, disk), isReady: true, isWithdrawn: false });
  }
  const at = (index: number) => slots[index] as Slot;
  const markAsked = (slot: Slot) => {
    asked.add(slot.process);
    return slot.process;
  };
  const buildReplicaName = (slot: Slot) => `replica-${slots.indexOf(slot)}-${slot.serial}`;
  const probes = setInterval(() => slots.forEach((slot) => void probe(slot)), PROBE_EVERY_MS);

  const replace = async (index: number) => {
    const slot = at(index);
    const process = await start(index, slot.serial + 1, slot.disk);
    Object.assign(slot, { serial: slot.serial + 1, process, isReady: true, isWithdrawn: false });
  };

  return {
    all,
    deaths,
    count,
    ready: () =>
      slots
        .filter((slot) => slot.isReady && !slot.isWithdrawn)
        .map((slot) => ({ name: buildReplicaName(slot), process: slot.process })),
    crash: (index) => markAsked(at(index)).kill(),
    end: (index) => markAsked(at(index)).stop(),
    freeze: (index) => void process.kill(at(index).process.pid, "SIGSTOP"),
    resume: (index) => void process.kill(at(index).process.pid, "SIGCONT"),
    jump: (index) => void process.kill(at(index).process.pid, "SIGUSR2"),
    replace,
    async roll(index) {
      const slot = at(index);
      slot.isWithdrawn = true;
      await sleep(PRE_STOP_MS);
      const code = await Promise.race([markAsked(slot).stop(), sleep(EXIT_LIMIT_MS, "no exit", { ref: false })]);
      const ended = slot.process;
      slot.disk = await newDisk();
      await replace(index);
      const last = ended.logs.slice(-5).map((line) => JSON.stringify(line));
      if (code !== 0) throw new Error(`${buildReplicaName(slot)}'s predecessor ended with ${code}: ${last.join(" ")}`);
    },
    async stop() {
      clearInterval(probes);
      await Promise.all(slots.map((slot) => markAsked(slot).stop()));
      for (const disk of disks) await rm(disk, { recursive: true, force: true });
    },
  };
}

/** If the slot got another process, a late answer says nothing about that process. */
async function probe(slot: Slot): Promise<void> {
  const { process } = slot;
  const isReady = await isOk(`${process.adminUrl}/readyz`);
  if (slot.process === process) slot.isReady = isReady;
}

function isOk(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const call = get(url, { agent: false, timeout: PROBE_TIMEOUT_MS }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    call.on("timeout", () => call.destroy());
    call.on("error", () => resolve(false));
    call.on("close", () => resolve(false));
  });
}
