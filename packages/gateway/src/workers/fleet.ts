import cluster, { type Worker } from "node:cluster";
import type { CollectedMetric } from "../observability/exposition.ts";
import { addCounters } from "../observability/merge-metrics.ts";
import type { Logger } from "../observability/log.ts";
import type { Question, Report, WorkerStarted } from "./messages.ts";

/** A process that serves, from the primary's point of view. */
export interface Member {
  readonly worker: Worker;
  readonly startedAt: number;
  isServing: boolean;
  /** True if it was asked to exit; its exit is then not a crash. */
  isLeaving: boolean;
  metrics: readonly CollectedMetric[];
}

export interface FleetSettings {
  readonly size: number;
  readonly log: Logger;
  readonly fork: () => Worker;
  /** Called if a worker exits before it ever served, and no other worker has served yet: the start has failed. */
  readonly onFailedStart: (code: number) => void;
}

type Answered = Extract<Report, { readonly id: number }>;

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
/** A worker that has served for this long does not count as failing. */
const STEADY_MS = 60_000;
const CUT_OFF =
  "its requests were cut and are charged once, when their reservations expire; after SIGKILL look for a lack of memory in the kernel's log";
/** Timeout for the response of a worker; one that hangs is left out. */
const ANSWER_MS = 2_000;

/** Starts the workers, replaces those that exit, and queries their state. */
export class Fleet {
  readonly #settings: FleetSettings;
  readonly #members = new Map<number, Member>();
  readonly #waiting = new Map<number, (answer: Answered) => void>();
  #counted: readonly CollectedMetric[] = [];
  #failures = 0;
  #isStopping = false;
  #hasServed = false;
  #nextId = 0;

  constructor(settings: FleetSettings) {
    this.#settings = settings;
    cluster.on("message", (worker, report: Report) => this.#heard(worker, report));
    cluster.on("exit", (worker, code, signal) => void this.#ended(worker, code, signal));
  }

  get members(): readonly Member[] {
    return [...this.#members.values()];
  }

  /** Counters of workers that have exited. */
  get counted(): readonly CollectedMetric[] {
    return this.#counted;
  }

  /**
   * Starts one worker first, which migrates and creates the first account, or reports why it cannot. Then starts the
   * others.
   */
  async start(): Promise<WorkerStarted> {
    const first = await this.#add();
    await Promise.all(Array.from({ length: this.#settings.size - 1 }, () => this.#add()));
    return first;
  }

  /** Replaces all workers one after the other; each new one serves before an old one exits. */
  async restart(): Promise<void> {
    for (const member of this.members) {
      if (this.#isStopping) return;
      await this.#add();
      this.#leave(member);
      await exited(member.worker);
    }
  }

  /** Asks all workers to exit and waits for them. Returns the worst exit code. */
  async stop(): Promise<number> {
    this.#isStopping = true;
    const ends = this.members.map((member) => {
      const end = exited(member.worker);
      this.#leave(member);
      return end;
    });
    const codes = await Promise.all(ends);
    return Math.max(0, ...codes);
  }

  /** Ends everything that still runs. */
  cutOff(): void {
    for (const { worker } of this.#members.values()) worker.process.kill("SIGTERM");
  }

  /** Returns the responses of all workers that serve; undefined for one that does not respond in time. */
  async ask<K extends Answered["kind"]>(
    question: Omit<Extract<Question, { readonly kind: K }>, "id">,
  ): Promise<readonly { readonly member: Member; readonly answer: Extract<Answered, { kind: K }> | undefined }[]> {
    const serving = this.members.filter(({ isServing }) => isServing);
    return Promise.all(
      serving.map(async (member) => ({
        member,
        answer: (await this.#askOne(member, question as Omit<Question, "id">)) as
          | Extract<Answered, { kind: K }>
          | undefined,
      })),
    );
  }

  #askOne({ worker }: Member, question: Omit<Question, "id">): Promise<Answered | undefined> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const end = (answer?: Answered) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(answer);
      };
      const timer = setTimeout(end, ANSWER_MS);
      this.#waiting.set(id, end);
      if (worker.isConnected()) worker.send({ ...question, id });
      else end();
    });
  }

  #add(): Promise<WorkerStarted> {
    const worker = this.#settings.fork();
    this.#members.set(worker.id, {
      worker,
      startedAt: performance.now(),
      isServing: false,
      isLeaving: false,
      metrics: [],
    });
    return new Promise((resolve) => {
      worker.on("message", (report: Report) => {
        if (report.kind === "started") resolve(report.started);
      });
    });
  }

  #leave(member: Member): void {
    member.isLeaving = true;
    member.worker.process.kill("SIGTERM");
  }

  #heard(worker: Worker, report: Report): void {
    const member = this.#members.get(worker.id);
    if (!member) return;
    if (report.kind === "started") {
      member.isServing = true;
      this.#hasServed = true;
      return;
    }
    if (report.kind === "metrics" || report.kind === "stopping") member.metrics = report.metrics;
    if (report.kind !== "stopping") this.#waiting.get(report.id)?.(report);
  }

  async #ended(worker: Worker, code: number | null, signal: string | null): Promise<void> {
    const member = this.#members.get(worker.id);
    if (!member) return;
    this.#members.delete(worker.id);
    this.#counted = await addCounters(this.#counted, member.metrics);
    const fields = { worker: worker.id, pid: worker.process.pid, code, signal };
    if (this.#isStopping || member.isLeaving) {
      if (code !== 0) this.#settings.log.error("a worker died while it drained", { ...fields, cure: CUT_OFF });
      return;
    }
    if (!this.#hasServed) return this.#settings.onFailedStart(code ?? 1);
    if (code === 0) {
      this.#settings.log.info("a worker ended and is replaced", fields);
      return void this.#add();
    }
    this.#failures = performance.now() - member.startedAt >= STEADY_MS ? 1 : this.#failures + 1;
    const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.#failures - 1));
    this.#settings.log.error("a worker died and is replaced", { ...fields, delay_ms: delayMs });
    setTimeout(() => this.#isStopping || void this.#add(), delayMs);
  }
}

function exited({ process: child }: Worker): Promise<number> {
  if (child.exitCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once("exit", (code, signal) => resolve(signal === null ? (code ?? 1) : 1)));
}
