// The load generator, in a separate process: it receives jobs over the channel to its parent and returns results.
import { setTimeout as sleep } from "node:timers/promises";
import { Connection, type Answer } from "./connection.ts";
import { END_MARKS, buildRequest, type LoadRequest } from "./requests.ts";

export interface Job extends LoadRequest {
  readonly load:
    | { readonly kind: "closed"; readonly connections: number; readonly seconds: number }
    | { readonly kind: "open"; readonly perSecond: number; readonly samples: number }
    | { readonly kind: "hold"; readonly streams: number; readonly openWithinMs: number };
}

export interface Result {
  readonly good: number;
  readonly failed: number;
  readonly firstFailure: string;
  readonly seconds: number;
  /** Milliseconds from due (open loop) or sent (closed loop) to the last byte. */
  readonly p50: number;
  readonly p99: number;
  readonly firstByteP50: number;
  readonly firstByteP99: number;
}

class Tally {
  readonly #latencies: number[] = [];
  readonly #firstBytes: number[] = [];
  readonly #job: Job;
  #failed = 0;
  #firstFailure = "";

  constructor(job: Job) {
    this.#job = job;
  }

  add(answer: Answer | Error, from: number): boolean {
    const problem = this.#findProblem(answer);
    if (problem !== "" || answer instanceof Error) {
      this.#failed++;
      this.#firstFailure ||= problem;
      return false;
    }
    this.#latencies.push(answer.endedAt - from);
    this.#firstBytes.push(answer.firstByteAt - from);
    return true;
  }

  #findProblem(answer: Answer | Error): string {
    if (answer instanceof Error) return answer.message;
    if (answer.status !== 200) return `status ${answer.status}: ${answer.tail}`;
    const isWhole = !this.#job.isStream || answer.tail.includes(END_MARKS[this.#job.client ?? "chat"]);
    return isWhole ? "" : `a stream without its end: ${answer.tail}`;
  }

  result(seconds: number): Result {
    const [p50, p99] = percentiles(this.#latencies);
    const [firstByteP50, firstByteP99] = percentiles(this.#firstBytes);
    const counts = { good: this.#latencies.length, failed: this.#failed, firstFailure: this.#firstFailure, seconds };
    return { ...counts, p50, p99, firstByteP50, firstByteP99 };
  }
}

async function execute(job: Job): Promise<Result> {
  const tally = new Tally(job);
  const started = performance.now();
  if (job.load.kind === "closed") await closedLoop(job, job.load, tally);
  else if (job.load.kind === "open") await openLoop(job, job.load, tally);
  else await holdOpen(job, job.load, tally);
  return tally.result((performance.now() - started) / 1000);
}

async function closedLoop(job: Job, load: Extract<Job["load"], { kind: "closed" }>, tally: Tally): Promise<void> {
  const request = buildRequest(job);
  const until = performance.now() + load.seconds * 1000;
  const worker = async () => {
    let connection = new Connection(job.port);
    while (performance.now() < until) {
      if (!connection.isUsable) connection = new Connection(job.port);
      const from = performance.now();
      if (!tally.add(await connection.send(request), from)) await sleep(10);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: load.connections }, worker));
}

/** Sends each request when it is due, whether or not earlier ones are answered; measures from the due time. */
async function openLoop(job: Job, load: Extract<Job["load"], { kind: "open" }>, tally: Tally): Promise<void> {
  const request = buildRequest(job);
  const idle: Connection[] = [];
  const running: Promise<void>[] = [];
  const started = performance.now();
  for (let i = 0; i < load.samples; i++) {
    const due = started + (i * 1000) / load.perSecond;
    const wait = due - performance.now();
    if (wait > 0) await sleep(wait);
    const connection = lastUsable(idle) ?? new Connection(job.port);
    running.push(
      connection.send(request).then((answer) => {
        tally.add(answer, due);
        idle.push(connection);
      }),
    );
  }
  await Promise.all(running);
  for (const connection of idle) connection.close();
}

/** The server may have closed the connections that were idle longest. */
function lastUsable(idle: Connection[]): Connection | undefined {
  for (let last = idle.pop(); last !== undefined; last = idle.pop()) {
    if (last.isUsable) return last;
    last.close();
  }
  return undefined;
}

async function holdOpen(job: Job, load: Extract<Job["load"], { kind: "hold" }>, tally: Tally): Promise<void> {
  const request = buildRequest(job);
  const runStream = async (index: number) => {
    await sleep((index / load.streams) * load.openWithinMs);
    const connection = new Connection(job.port);
    const from = performance.now();
    tally.add(await connection.send(request), from);
    connection.close();
  };
  await Promise.all(Array.from({ length: load.streams }, (_, index) => runStream(index)));
}

function percentiles(values: number[]): [p50: number, p99: number] {
  values.sort((a, b) => a - b);
  const at = (share: number) => values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;
  return [at(0.5), at(0.99)];
}

process.on("message", (job: Job) => {
  execute(job).then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ good: 0, failed: 1, firstFailure: String(error) }),
  );
});
process.once("disconnect", () => process.exit());
process.send?.({ port: 0 });
