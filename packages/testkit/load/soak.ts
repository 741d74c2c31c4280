import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { createChannel, setModelRatios, setOptions, signIn } from "../src/api.ts";
import type { Job, Result } from "./generator.ts";
import { ask } from "./measure.ts";
import type { ClientProtocol } from "./requests.ts";
import { COMPATIBLE } from "./streams/streams.ts";
import type { System } from "./systems.ts";
import { readMemory } from "./usage.ts";

/** One kind of call, at a rate that leaves the machine spare capacity. */
interface Kind {
  readonly name: string;
  readonly perSecond: number;
  readonly model: string;
  readonly isStream: boolean;
  readonly client?: ClientProtocol;
}

/** Served by a channel that supports only chat, so that every other protocol is converted. */
const CONVERTED = "bench-51-10-converted";

/** Calls that the load generator makes, each kind from a generator of its own. */
export const SOAK_KINDS: readonly Kind[] = [
  { name: "plain", perSecond: 50, model: "bench-plain", isStream: false },
  { name: "stream at once", perSecond: 10, model: "bench-51-0", isStream: true },
  { name: "stream, 10 ms", perSecond: 10, model: "bench-51-10", isStream: true },
  { name: "stream of 20 s", perSecond: 1, model: "bench-200-100", isStream: true },
  { name: "Anthropic", perSecond: 3, model: CONVERTED, isStream: true, client: "messages" },
  { name: "Responses", perSecond: 3, model: CONVERTED, isStream: true, client: "responses" },
  { name: "Gemini", perSecond: 3, model: CONVERTED, isStream: true, client: "gemini" },
];
/**
 * Stored responses reach this size in three minutes; with the default they would grow for hours, which would look like
 * a leak.
 */
const STORED_MEGABYTES = "1";
const UPLOAD_EVERY_MS = 1_000;
const UPLOAD_BYTES = 1_500_000;
const SIGN_IN_EVERY_MS = 2_000;
const SAMPLE_EVERY_MS = 5_000;

export interface Sample {
  /** Since the load began. */
  readonly seconds: number;
  readonly residentMib: number;
}

export interface SoakFigures {
  readonly samples: readonly Sample[];
  /** Good calls by kind. */
  readonly good: ReadonlyMap<string, number>;
}

export interface Soak {
  readonly seconds: number;
  /** Address of the fake upstream. */
  readonly upstream: string;
  /** One for each of SOAK_KINDS. */
  readonly generators: readonly ChildProcess[];
  readonly onSample: (sample: Sample) => void;
}

/** Loads a gateway with everything at once and watches its memory; throws if a call fails. */
export async function runSoak(system: System, soak: Soak): Promise<SoakFigures> {
  const { seconds, generators, onSample } = soak;
  const root = await signIn(`http://127.0.0.1:${system.port}`);
  await setModelRatios(root, { [CONVERTED]: 0.001 });
  await setOptions(root, { KeptResponsesMegabytes: STORED_MEGABYTES });
  await createChannel(root, { name: "converted", type: COMPATIBLE, base_url: soak.upstream, models: CONVERTED });
  const began = performance.now();
  const isOver = () => performance.now() - began > seconds * 1000;
  const good = new Map<string, number>();
  const samples: Sample[] = [];
  const calls = SOAK_KINDS.map(async (kind, at) => {
    const result = requireNoFailures(
      kind.name,
      await ask(generators[at] as ChildProcess, buildJob(system, kind, seconds)),
    );
    good.set(kind.name, result.good);
  });
  const repeated = async (name: string, everyMs: number, call: () => Promise<unknown>) => {
    for (; !isOver(); await sleep(everyMs)) {
      await call();
      good.set(name, (good.get(name) ?? 0) + 1);
    }
  };
  const watching = async () => {
    for (; !isOver(); await sleep(Math.min(SAMPLE_EVERY_MS, (seconds * 1000) / 10))) {
      const residentMib = readMemory(system.gatewayPid).residentKib / 1024;
      const sample = { seconds: (performance.now() - began) / 1000, residentMib };
      samples.push(sample);
      onSample(sample);
    }
  };
  await Promise.all([
    ...calls,
    repeated("upload", UPLOAD_EVERY_MS, () => upload(system)),
    repeated("sign-in", SIGN_IN_EVERY_MS, () => signIn(`http://127.0.0.1:${system.port}`)),
    watching(),
  ]);
  return { samples, good };
}

function buildJob({ port, key }: System, { name: _name, perSecond, ...asked }: Kind, seconds: number): Job {
  return { port, key, ...asked, load: { kind: "open", perSecond, samples: Math.ceil(perSecond * seconds) } };
}

function requireNoFailures(name: string, result: Result): Result {
  if (result.failed > 0) throw new Error(`${result.failed} calls failed (${name}): ${result.firstFailure}`);
  return result;
}

const IMAGE = `data:image/png;base64,${Buffer.alloc(UPLOAD_BYTES, 7).toString("base64")}`;

/** A chat request with a large image. */
async function upload({ port, key }: System): Promise<void> {
  const content = [
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url: IMAGE } },
  ];
  const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: "bench-plain", messages: [{ role: "user", content }] }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`an upload failed with status ${response.status}: ${text.slice(0, 200)}`);
}

export interface Slope {
  readonly mibPerHour: number;
  /** Standard error of the slope. */
  readonly error: number;
}

/** Fits a line by least squares through the samples; NaN if there are fewer than three. */
export function fitSlope(samples: readonly Sample[]): Slope {
  const { length } = samples;
  if (length < 3) return { mibPerHour: Number.NaN, error: Number.NaN };
  const hours = samples.map(({ seconds }) => seconds / 3_600);
  const values = samples.map(({ residentMib }) => residentMib);
  const [x, y] = [mean(hours), mean(values)];
  const spread = hours.reduce((sum, hour) => sum + (hour - x) ** 2, 0);
  const slope = hours.reduce((sum, hour, at) => sum + (hour - x) * ((values[at] as number) - y), 0) / spread;
  const rest = hours.reduce((sum, hour, at) => sum + ((values[at] as number) - y - slope * (hour - x)) ** 2, 0);
  return { mibPerHour: slope, error: Math.sqrt(rest / (length - 2) / spread) };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
