// Reads a gateway that runs with `--inspect`: its live heap, and how long one turn of its event loop takes.

/** One place in the code, as the engine's profiler names it. */
export interface ProfiledCall {
  readonly functionName: string;
  /** "" = native code; the engine puts some other names in brackets. */
  readonly url: string;
  /** From 0. */
  readonly lineNumber: number;
  readonly columnNumber: number;
}

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: ProfiledCall }[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

interface AllocationNode {
  readonly callFrame: ProfiledCall;
  readonly selfSize: number;
  readonly children: readonly AllocationNode[];
}

/** Bytes that one chain of calls allocated, the innermost call first. */
export interface Allocation {
  readonly stack: readonly ProfiledCall[];
  readonly bytes: number;
}

const SAMPLE_EVERY_US = 200;
/** Mean number of bytes between two sampled allocations. */
const SAMPLE_EVERY_BYTES = 4_096;

interface Reply {
  readonly id?: number;
  readonly result?: {
    readonly result?: { readonly value?: unknown };
    readonly profile?: Profile & { readonly head?: AllocationNode };
  };
  readonly error?: { readonly message: string };
}

export class Inspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      const reply = JSON.parse(String(data)) as Reply;
      this.#waiting.get(reply.id ?? -1)?.(reply);
      this.#waiting.delete(reply.id ?? -1);
    });
  }

  /** `port` is the one in `--inspect=127.0.0.1:port`. */
  static async connect(port: number): Promise<Inspector> {
    const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
      webSocketDebuggerUrl: string;
    }[];
    const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? "");
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve, { once: true });
      socket.addEventListener("error", () => reject(new Error("the inspector refused")), { once: true });
    });
    return new Inspector(socket);
  }

  /** Returns the bytes of live objects and of buffers outside the heap. */
  async liveBytes(): Promise<number> {
    await this.#call("HeapProfiler.collectGarbage");
    return Number(await this.#evaluate("(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())"));
  }

  /**
   * Records the longest turn of the event loop from now on, in CPU time of its thread, so other processes do not count.
   */
  async watchTurns(): Promise<void> {
    await this.#evaluate(`(() => {
      let last = process.threadCpuUsage();
      globalThis.longestTurn = 0;
      clearInterval(globalThis.turnWatch);
      globalThis.turnWatch = setInterval(() => {
        const now = process.threadCpuUsage();
        globalThis.longestTurn = Math.max(globalThis.longestTurn, now.user + now.system - last.user - last.system);
        last = now;
      }, 1);
    })()`);
  }

  /** Returns the milliseconds of the longest turn since `watchTurns`, and stops watching. */
  async longestTurn(): Promise<number> {
    return Number(await this.#evaluate("clearInterval(globalThis.turnWatch), globalThis.longestTurn")) / 1000;
  }

  /** Returns the microseconds that the main thread spent in each place itself during `work`. */
  async profile(work: () => Promise<unknown>): Promise<ReadonlyMap<ProfiledCall, number>> {
    await this.#call("Profiler.enable");
    await this.#call("Profiler.setSamplingInterval", { interval: SAMPLE_EVERY_US });
    await this.#call("Profiler.start");
    await work();
    const { nodes = [], samples = [], timeDeltas = [] } = (await this.#call("Profiler.stop")).result?.profile ?? {};
    const callFrameById = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
    const spent = new Map<ProfiledCall, number>();
    for (const [at, id] of samples.entries()) {
      const call = callFrameById.get(id);
      if (call) spent.set(call, (spent.get(call) ?? 0) + (timeDeltas[at] ?? 0));
    }
    return spent;
  }

  /** Returns the bytes that the main thread has allocated on its heap since it began, collected or not. */
  async allocatedBytes(): Promise<number> {
    const statistics = `process.getBuiltinModule("node:v8").getHeapStatistics()`;
    return Number(await this.#evaluate(`${statistics}.total_allocated_bytes`));
  }

  /** Returns what `work` allocates by chain of calls, collected or not: an estimate from samples. */
  async sampleAllocations(work: () => Promise<unknown>): Promise<readonly Allocation[]> {
    await this.#call("HeapProfiler.startSampling", {
      samplingInterval: SAMPLE_EVERY_BYTES,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
    await work();
    const head = (await this.#call("HeapProfiler.stopSampling")).result?.profile?.head;
    const allocations: Allocation[] = [];
    const visit = ({ callFrame, selfSize, children }: AllocationNode, above: readonly ProfiledCall[]) => {
      const stack = [callFrame, ...above];
      if (selfSize > 0) allocations.push({ stack, bytes: selfSize });
      for (const child of children) visit(child, stack);
    };
    if (head) visit(head, []);
    return allocations;
  }

  close(): void {
    this.#socket.close();
  }

  async #evaluate(expression: string): Promise<unknown> {
    const reply = await this.#call("Runtime.evaluate", { expression, returnByValue: true });
    return reply.result?.result?.value;
  }

  #call(method: string, params: object = {}): Promise<Reply> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, (reply) => (reply.error ? reject(new Error(reply.error.message)) : resolve(reply)));
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }
}
