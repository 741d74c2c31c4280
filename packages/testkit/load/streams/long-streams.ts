import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Inspector } from "../inspector.ts";
import { readStream, type StreamReader } from "./reader.ts";
import { CLIENTS, longModels, type StreamBench } from "./plan.ts";
import type { System } from "../systems.ts";

/** Live memory of the gateway while streams run, by stream. */
export interface LongStream {
  readonly name: string;
  /** Additional bytes that a stream holds after a thousand more chunks, by least squares. */
  readonly bytesPerThousandChunks: number;
  /** KiB that an open stream takes at its first rest, including sockets, compared with the gateway before it. */
  readonly openKib: number;
  /** The most additional KiB that it took later. */
  readonly grownKib: number;
}

interface Sample {
  /** Chunks per stream. */
  readonly chunks: number;
  /** Bytes per stream. */
  readonly bytes: number;
}

/** If nothing arrives for this long, everything in flight has arrived. */
const SETTLED_MS = 200;

/** Measures while the upstream rests, because data in flight at full speed is not memory that a stream keeps. */
export async function measureLongStreams(
  system: System,
  inspector: Inspector,
  bench: StreamBench,
): Promise<LongStream[]> {
  const found: LongStream[] = [];
  for (const { client, name } of CLIENTS) {
    bench.say(`${bench.plan.longStreams} streams of ${bench.plan.longChunks} chunks: ${name}`);
    const { fast, resting } = longModels(bench.plan);
    const asked = { port: system.port, key: system.key, model: resting, isStream: true, client };
    await Promise.all(
      Array.from({ length: bench.plan.longStreams }, () => readStream({ ...asked, model: fast }).ended),
    );
    const before = await inspector.liveBytes();
    const readers = Array.from({ length: bench.plan.longStreams }, () => readStream(asked));
    const samples = await collectSamples(
      readers,
      bench.upstream.child,
      async () => (await inspector.liveBytes()) - before,
    );
    const open = samples[0]?.bytes ?? Number.NaN;
    const most = Math.max(...samples.map((sample) => sample.bytes));
    found.push({
      name,
      bytesPerThousandChunks: fitSlope(samples) * 1000,
      openKib: open / 1024,
      grownKib: (most - open) / 1024,
    });
  }
  return found;
}

/** Takes one sample in each rest of all streams. */
async function collectSamples(
  readers: readonly StreamReader[],
  upstream: ChildProcess,
  live: () => Promise<number>,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  const events = () => readers.reduce((sum, reader) => sum + reader.events, 0);
  const all = Promise.all(readers.map((reader) => reader.ended)).then(() => "over" as const);
  const over = new AbortController();
  while ((await Promise.race([once(upstream, "message", { signal: over.signal }), all])) !== "over") {
    for (let seen = -1; seen !== events(); await sleep(SETTLED_MS)) seen = events();
    samples.push({ chunks: events() / readers.length, bytes: (await live()) / readers.length });
    upstream.send("continue");
  }
  over.abort();
  return samples;
}

function fitSlope(samples: readonly Sample[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(samples.map((sample) => sample.chunks));
  const y = mean(samples.map((sample) => sample.bytes));
  const over = samples.reduce((sum, sample) => sum + (sample.chunks - x) * (sample.bytes - y), 0);
  return over / samples.reduce((sum, sample) => sum + (sample.chunks - x) ** 2, 0);
}
