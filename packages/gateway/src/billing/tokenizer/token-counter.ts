import { Worker } from "node:worker_threads";
import { ENCODED_AT_MOST, selectEncoder, REST_FACTOR, type EncoderName } from "./encoders.ts";

export interface CountJob {
  readonly id: number;
  readonly encoder: EncoderName;
  readonly texts: readonly string[];
}

export type CountAnswer =
  | { readonly id: number; readonly tokens: readonly number[] }
  | { readonly id: number; readonly error: string };

/**
 * Counts tokens with the model's encoder in its own thread, which starts with the first count and ends after a minute
 * without one: it takes 50 to 65 MiB. Beyond 1 MiB of text per call, it estimates a token for every four bytes.
 */
export interface TokenCounter {
  /** Returns one number per text. Rejects when the thread fails twice on the same texts, and after `stop`. */
  count(model: string, texts: readonly string[]): Promise<number[]>;
  stop(): Promise<void>;
}

/** The thread ends after this time without work; loading an encoder again takes a third of a second. */
const IDLE_MS = 60_000;
/**
 * Small, because counting creates few long-lived objects: three times this size saves no time and takes 20 MiB more.
 */
const YOUNG_MIB = 6;

interface Pending {
  readonly job: CountJob;
  readonly resolve: (tokens: readonly number[]) => void;
  readonly reject: (error: Error) => void;
  isSecondTry: boolean;
}

/** `script` is the program of the thread. */
export function createTokenCounter(script: URL = workerScript()): TokenCounter {
  const pending = new Map<number, Pending>();
  let worker: Worker | undefined;
  let lastId = 0;
  let isStopped = false;
  const rest = restTimer(() => {
    const unused = worker;
    worker = undefined;
    void unused?.terminate();
  });

  const start = (): Worker => {
    const started = new Worker(script, { resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB } });
    started.on("message", (answer: CountAnswer) => finish(answer));
    started.on("error", () => restart(started));
    started.on("exit", () => restart(started));
    worker = started;
    return started;
  };

  const post = (job: CountJob) => {
    rest.end();
    const target = worker ?? start();
    target.ref();
    target.postMessage(job);
  };

  const finish = (answer: CountAnswer) => {
    const waiting = pending.get(answer.id);
    pending.delete(answer.id);
    if (pending.size === 0) {
      worker?.unref();
      rest.begin();
    }
    if (!waiting) return;
    if ("error" in answer) waiting.reject(new Error(`tokens were not counted: ${answer.error}`));
    else waiting.resolve(answer.tokens);
  };

  const restart = (dead: Worker) => {
    if (worker !== dead) return;
    worker = undefined;
    for (const { job } of withOneMoreTry(pending, isStopped)) post(job);
  };

  return {
    async count(model, texts) {
      if (isStopped) throw new Error("tokens were not counted: the counter is stopped");
      const { heads, rest } = cut(texts);
      const counted = await new Promise<readonly number[]>((resolve, reject) => {
        const job = { id: (lastId += 1), encoder: selectEncoder(model), texts: heads };
        pending.set(job.id, { job, resolve, reject, isSecondTry: false });
        post(job);
      });
      return counted.map((tokens, index) => tokens + (rest[index] ?? 0));
    },
    async stop() {
      isStopped = true;
      rest.end();
      await worker?.terminate();
    },
  };
}

/** Returns the texts of a dead thread for one more try each, so that no text can kill threads forever. */
function withOneMoreTry(pending: Map<number, Pending>, isStopped: boolean): readonly Pending[] {
  for (const [id, waiting] of pending) {
    if (!waiting.isSecondTry && !isStopped) continue;
    pending.delete(id);
    waiting.reject(new Error("tokens were not counted: the counting thread ended"));
  }
  const left = [...pending.values()];
  for (const waiting of left) waiting.isSecondTry = true;
  return left;
}

/** Calls `isOver` when nothing was counted for a minute. */
function restTimer(isOver: () => void): { begin(): void; end(): void } {
  let timer: NodeJS.Timeout | undefined;
  return {
    begin() {
      clearTimeout(timer);
      timer = setTimeout(isOver, IDLE_MS).unref();
    },
    end: () => clearTimeout(timer),
  };
}

function cut(texts: readonly string[]): { readonly heads: string[]; readonly rest: number[] } {
  let left = ENCODED_AT_MOST;
  const heads: string[] = [];
  const rest: number[] = [];
  for (const text of texts) {
    const head = text.length <= left ? text : text.slice(0, left);
    left -= head.length;
    heads.push(head);
    rest.push(head === text ? 0 : Math.ceil(Buffer.byteLength(text.slice(head.length)) * REST_FACTOR));
  }
  return { heads, rest };
}

/** The script is next to this file in the sources, and next to the bundle in `dist`. */
function workerScript(): URL {
  return new URL(import.meta.url.endsWith(".ts") ? "./counter-worker.ts" : "./counter-worker.mjs", import.meta.url);
}
