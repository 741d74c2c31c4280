import { ApiProblem } from "@fairway/wire";
import type { LiveAnswer } from "../../session/session.ts";

/** The gateway sends a heartbeat every 15 s. */
const SILENCE_MS = 45_000;

/** Reads an answer while heartbeats arrive; a body that breaks off or falls silent is a lost connection. */
export async function living(
  open: (signal: AbortSignal) => Promise<LiveAnswer>,
  read: (answer: LiveAnswer, isAlive: () => void) => Promise<void>,
): Promise<void> {
  const silence = new AbortController();
  const answer = await open(silence.signal);
  const timer = globalThis.setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    await read({ ...answer, body: readWholeBody(answer.body, silence.signal) }, () => timer.refresh());
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

async function* readWholeBody(body: AsyncIterable<Uint8Array>, silence: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (cause) {
    const words = silence.aborted ? "The gateway fell silent" : "The connection was lost";
    throw new ApiProblem(words, { status: 0, cause: new Error(words, { cause }) });
  }
}
