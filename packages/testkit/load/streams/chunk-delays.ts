import type { Inspector } from "../inspector.ts";
import { readStream } from "./reader.ts";
import { median, type StreamBench } from "./plan.ts";
import type { System } from "../systems.ts";

/** Milliseconds from the upstream's write of a chunk to the client's read of it. */
interface Delay {
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
  /** CPU of the longest turn of the gateway's event loop, during which no other request is served. */
  readonly turn: number;
}

/** Chunks of one stream, alone and while the gateway counts 1 MiB of another stream's text. */
export interface Delays {
  readonly alone: Delay;
  readonly whileCounting: Delay;
}

const STAMP = /@(\d+\.\d+)@/g;

/** If an upstream reports no usage, the gateway counts its words. Returns medians; both cases take turns. */
export async function measureChunkDelays(system: System, inspector: Inspector, bench: StreamBench): Promise<Delays> {
  const { plan, say } = bench;
  const target = { port: system.port, key: system.key, isStream: true };
  const counted = () => readStream({ ...target, model: "bench-1024-0-silent" }).ended;
  await counted();
  const alone: Delay[] = [];
  const whileCounting: Delay[] = [];
  for (let round = 1; round <= plan.rounds; round++) {
    say(`chunks while 1 MiB of text is counted: round ${round} of ${plan.rounds}`);
    for (const [into, load] of [
      [alone, async () => {}],
      [whileCounting, counted],
    ] as const) {
      await inspector.watchTurns();
      const delays = await measureDelays(target, load);
      into.push({ ...delays, turn: await inspector.longestTurn() });
    }
  }
  return { alone: middle(alone), whileCounting: middle(whileCounting) };
}

function middle(rounds: readonly Delay[]): Delay {
  const of = (name: keyof Delay) => median(rounds.map((delay) => delay[name]));
  return { p50: of("p50"), p99: of("p99"), most: of("most"), turn: of("turn") };
}

/** Repeats `load` while the watched stream runs. */
async function measureDelays(
  target: { readonly port: number; readonly key: string; readonly isStream: boolean },
  load: () => Promise<void>,
): Promise<Omit<Delay, "turn">> {
  const delays: number[] = [];
  let isOver = false;
  const watched = readStream({ ...target, model: "bench-400-5-stamped" }, (bytes) => {
    const now = performance.timeOrigin + performance.now();
    for (const [, stamp] of bytes.toString("latin1").matchAll(STAMP)) delays.push(now - Number(stamp));
  }).ended.finally(() => (isOver = true));
  while (!isOver) await Promise.race([watched, Promise.all([load(), pause()])]);
  await watched;
  delays.sort((a, b) => a - b);
  const at = (share: number) => delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), most: at(1) };
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 20);
  });
}
