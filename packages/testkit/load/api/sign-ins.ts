import { setTimeout as sleep } from "node:timers/promises";
import { createChannel, createToken, setModelRatios, signIn, type Session } from "../../src/api.ts";

/** Milliseconds; gaps are between chunks that are sent 10 ms apart. */
export interface SignInFigures {
  readonly perSecond: number;
  readonly done: number;
  readonly signInP50: number;
  readonly signInP95: number;
  readonly chunks: number;
  readonly delayP50: number;
  readonly delayP99: number;
  readonly gapP99: number;
}

export interface SignInPlan {
  readonly perSecond: number;
  readonly seconds: number;
  readonly users: readonly string[];
  readonly password: string;
  /** Address of `stream.ts`. */
  readonly upstream: string;
}

const SETTLE_MS = 500;

/**
 * Signs users in at a steady rate, even if earlier sign-ins are not answered yet, while one stream runs; both must be
 * flawless.
 */
export async function measureSignIns(root: Session, plan: SignInPlan): Promise<SignInFigures> {
  // A unique name, so that no channel of an earlier run is used.
  const model = `gap-${Date.now()}`;
  await setModelRatios(root, { [model]: 0.001 });
  const channel = await createChannel(root, { name: model, base_url: plan.upstream, models: model });
  const key = await createToken(root, { name: "gap" });
  const stream = await openStream(root.url, key, model);
  await sleep(SETTLE_MS);
  stream.begin();
  const latencies = await signInSteadily(root.url, plan);
  const { delays, gaps } = await stream.end();
  await root.must("DELETE", `/api/channel/${channel}`);
  return {
    perSecond: plan.perSecond,
    done: latencies.length,
    signInP50: percentile(latencies, 0.5),
    signInP95: percentile(latencies, 0.95),
    chunks: delays.length,
    delayP50: percentile(delays, 0.5),
    delayP99: percentile(delays, 0.99),
    gapP99: percentile(gaps, 0.99),
  };
}

async function signInSteadily(url: string, { perSecond, seconds, users, password }: SignInPlan): Promise<number[]> {
  const started = performance.now();
  const signInOnce = async (turn: number) => {
    const due = started + (turn * 1_000) / perSecond;
    await sleep(Math.max(0, due - performance.now()));
    await signIn(url, users[turn % users.length] ?? "", password);
    return performance.now() - due;
  };
  return Promise.all(Array.from({ length: perSecond * seconds }, (_, turn) => signInOnce(turn)));
}

interface Chunks {
  readonly delays: readonly number[];
  readonly gaps: readonly number[];
}

async function openStream(url: string, key: string, model: string): Promise<{ begin(): void; end(): Promise<Chunks> }> {
  const abort = new AbortController();
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "continue" }] }),
    signal: abort.signal,
  });
  if (!answer.ok || !answer.body) throw new Error(`the stream was refused: ${await answer.text()}`);
  const delays: number[] = [];
  const arrivals: number[] = [];
  let isCounting = false;
  const reading = readAll(answer.body, abort.signal, (text) => {
    const now = performance.timeOrigin + performance.now();
    const sent = [...text.matchAll(/at (\d+(?:\.\d+)?) /g)].map(([, at]) => Number(at));
    if (!isCounting || sent.length === 0) return;
    arrivals.push(now);
    delays.push(...sent.map((at) => now - at));
  });
  return {
    begin: () => (isCounting = true),
    async end() {
      isCounting = false;
      const wasCut = await Promise.race([reading.then(() => true), sleep(0, false)]);
      abort.abort();
      await reading;
      if (wasCut) throw new Error("the stream ended during the sign-ins");
      return { delays, gaps: arrivals.slice(1).map((at, index) => at - (arrivals[index] ?? at)) };
    },
  };
}

async function readAll(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  take: (text: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for await (const bytes of body) take(decoder.decode(bytes, { stream: true }));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Returns NaN for an empty list. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
